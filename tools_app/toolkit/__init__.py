"""The only import a tool author needs: declare a family, write a function, return a value or a plan."""
