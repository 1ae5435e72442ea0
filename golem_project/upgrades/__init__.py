"""What two versions of the product owe each other while one follows the other on one database."""
