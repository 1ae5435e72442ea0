from django.db import migrations

RENAMED = {
    "cluster_agent_archetypes": "golem_cluster_archetypes",
    "delegate_to_archetype": "golem_delegate_task",
    "get_episode_by_id": "memory_get_episode",
    "get_memory_stats": "memory_get_stats",
    "link_causal_nodes": "memory_link_causal_nodes",
    "mine_death_testaments": "golem_mine_testaments",
    "publish_artifact": "memory_publish_artifact",
    "query_sleepwalker_artifact": "memory_get_sleepwalker_artifact",
    "query_sleepwalker_catalog": "memory_get_sleepwalker_catalog",
    "query_sleepwalker_offers": "memory_get_sleepwalker_offers",
    "search_episodes": "memory_search_episodes",
    "search_insights": "memory_search_insights",
    "track_governance_changes": "intel_track_governance",
    "trigger_curator_cycle": "memory_trigger_curator_cycle",
    "tune_parameters": "memory_tune_parameters",
    "update_heuristic_confidence": "memory_update_heuristic_confidence",
}


def say_new_names(apps, schema_editor):
    _rename(apps, RENAMED)


def say_old_names(apps, schema_editor):
    _rename(apps, {new: old for old, new in RENAMED.items()})


def _rename(apps, names):
    overrides = apps.get_model("archetypes_app", "ToolOverride").objects
    for old, new in names.items():
        overrides.filter(tool_name=old).update(tool_name=new)
    keys = apps.get_model("archetypes_app", "ApiKey").objects
    for key in keys.filter(loaded_tools__overlap=list(names)).only("pk", "loaded_tools"):
        keys.filter(pk=key.pk).update(loaded_tools=[names.get(each, each) for each in key.loaded_tools])


class Migration(migrations.Migration):
    """Overrides and what keys have loaded name sixteen tools by the names that begin with what they belong to."""

    dependencies = [("archetypes_app", "0024_rules_stand_in")]

    operations = [migrations.RunPython(say_new_names, say_old_names)]
