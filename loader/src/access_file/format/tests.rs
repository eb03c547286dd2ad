//! What the form of the access file holds and refuses.

use toolbay_core::{Declarations, Effect, Visibility, tool_list};

use super::*;

const AGENT: &str = r#"{
      "loadout": [
        "note_add",
        "note_read"
      ],
      "pending": {
        "loadout": null,
        "by": "user:ada",
        "at_ms": 1767225600000
      },
      "skills": {
        "any": null,
        "none": [],
        "research": [
          "search"
        ]
      },
      "groups": null,
      "zone": "external_eu",
      "fallbacks": [
        "local",
        null
      ],
      "enforcement": "observe",
      "four_eyes": true,
      "visibility": "team",
      "tool_config": {
        "search": {"depth":  2, "api_key": "k"}
      }
    }"#;

fn file(agent: &str) -> String {
    format!(
        r#"{{
  "generation": 7,
  "tools": {{
    "gone": true,
    "note_add": false
  }},
  "groups": {{
    "content": false
  }},
  "providers": {{
    "notes": true
  }},
  "approvals": [
    "note_read"
  ],
  "pins": {{
    "note_add": {{
      "name": "add_note",
      "description": "Adds a note.",
      "schema": {{"type": "object",  "properties": {{"text": {{}}}}}},
      "declarations": {{
        "effect": "idempotent_write",
        "data_class": "editor_content",
        "group": "content",
        "egress": "none",
        "kind": "write",
        "requires_admin": false,
        "enabled_by_default": true,
        "requires_approval": true,
        "loop_budget": 2,
        "input": {{"type":"object","properties":{{}}}}
      }}
    }}
  }},
  "agents": {{
    "helper": {agent}
  }},
  "labels": {{
    "gone": {{
      "label": "Gone",
      "summary": "Was there.",
      "provider": "old"
    }}
  }}
}}"#
    )
}

fn read(text: String) -> Result<Contents, DecodeError> {
    decode(&RawValue::from_string(text).unwrap())
}

fn helper(contents: &Contents) -> &AgentProfile {
    &contents.agents["helper"]
}

#[test]
fn the_content_reads_back_as_it_was_written() {
    let contents = read(file(AGENT)).unwrap();
    assert_eq!(encode(&contents).unwrap().get(), file(AGENT));
    assert!(contents.damaged.is_empty());

    let Access { closed: _, tools, groups, providers, approvals, pins } = &contents.access;
    assert_eq!((tools["gone"], tools["note_add"]), (true, false));
    assert_eq!((groups["content"], providers["notes"]), (false, true));
    assert_eq!(*approvals, tool_list("note_read").unwrap());
    let pin = &pins["note_add"];
    assert_eq!((pin.name.as_str(), &*pin.description), ("add_note", "Adds a note."));
    let Declarations { effect, loop_budget, input, .. } = &pin.declarations;
    assert_eq!((*effect, *loop_budget), (Effect::IdempotentWrite, Some(2)));
    assert!(input.is_some() && pin.schema.as_str().contains("text"));
    assert_eq!(contents.labels["gone"].label, "Gone");

    let helper = helper(&contents);
    assert_eq!(helper.loadout, Some(tool_list("note_add note_read").unwrap()));
    let pending = helper.pending.as_ref().unwrap();
    assert_eq!((&pending.loadout, &*pending.by), (&None, "user:ada"));
    assert_eq!(pending.at, Duration::from_secs(1_767_225_600));
    assert_eq!(helper.skills["any"], None);
    assert_eq!(helper.skills["none"], Some(BTreeSet::new()));
    assert_eq!(
        (helper.zone, &*helper.fallbacks),
        (TrustZone::ExternalEu, &[Some(TrustZone::Local), None][..])
    );
    assert_eq!((helper.enforcement, helper.four_eyes), (Enforcement::Observe, true));
    assert_eq!(helper.visibility, Visibility::Team);
    // Edge case 16: every byte of it.
    assert_eq!(helper.tool_config["search"].get(), r#"{"depth":  2, "api_key": "k"}"#);
}

#[test]
fn no_list_and_an_empty_list_stay_different() {
    let none = AGENT.replace("\"groups\": null", "\"groups\": []");
    let contents = read(file(&none)).unwrap();
    assert_eq!(helper(&contents).groups, Some(BTreeSet::new()));
    assert_eq!(encode(&contents).unwrap().get(), file(&none));
    assert_eq!(helper(&read(file(AGENT)).unwrap()).groups, None);
}

#[test]
fn an_unknown_zone_is_the_least_trusted_and_an_unknown_enforcement_enforces() {
    // Edge case 25.
    let cases = [
        ("external_eu", "observe", TrustZone::ExternalEu, Enforcement::Observe),
        ("moon", "observ", TrustZone::ExternalGlobal, Enforcement::Enforce),
        ("", "", TrustZone::ExternalGlobal, Enforcement::Enforce),
    ];
    for (zone, enforcement, expected_zone, expected) in cases {
        let agent = AGENT
            .replace("\"external_eu\"", &format!("{zone:?}"))
            .replace("\"observe\"", &format!("{enforcement:?}"));
        let contents = read(file(&agent)).unwrap();
        assert!(contents.damaged.is_empty(), "{zone}");
        let helper = helper(&contents);
        assert_eq!((helper.zone, helper.enforcement), (expected_zone, expected), "{zone}");
    }
    let contents = read(file(&AGENT.replace("\"local\"", "\"moon\""))).unwrap();
    assert_eq!(helper(&contents).fallbacks, [None, None], "it can't be resolved");
}

#[test]
fn a_damaged_agent_may_use_nothing_and_stays_as_it_is_until_it_is_replaced() {
    let cases = [
        ("no loadout", AGENT.replacen(&AGENT[1..AGENT.find("\"pending\"").unwrap()], "", 1)),
        ("no pending loadout", AGENT.replace("\"loadout\": null,", "")),
        ("no groups", AGENT.replacen("\"groups\": null,", "", 1)),
        (
            "more than is known",
            AGENT.replace("{\n      \"loadout\"", "{\"nights_only\": true, \"loadout\""),
        ),
        ("a name that is none", AGENT.replace("note_read", "note read")),
        ("an unknown visibility", AGENT.replace("\"team\"", "\"everybody\"")),
        ("no zone", AGENT.replace("\"external_eu\"", "null")),
        ("no object", "7".to_owned()),
    ];
    for (what, agent) in cases {
        assert_ne!(agent, AGENT, "{what}");
        let mut contents = read(file(&agent)).unwrap();
        let profile = helper(&contents);
        assert_eq!(profile.loadout, Some(BTreeSet::new()), "{what}");
        assert_eq!(profile.zone, TrustZone::ExternalGlobal, "{what}");
        assert!(contents.access.tools["gone"], "{what}: the rest is read");
        assert!(!contents.damaged["helper"].found.is_empty(), "{what}");
        assert_eq!(encode(&contents).unwrap().get(), file(&agent), "{what}: it stays");

        let whole = read(file(AGENT)).unwrap();
        contents.agents.extend(whole.agents);
        assert_eq!(encode(&contents).unwrap().get(), file(AGENT), "{what}: it is replaced");
        contents.agents.clear();
        assert!(!encode(&contents).unwrap().get().contains("helper"), "{what}: it is removed");
    }
}

#[test]
fn what_is_not_an_agents_is_damage_of_the_file() {
    type Expected = fn(&DecodeError) -> bool;
    let cases: [(&str, &str, Expected); 8] = [
        ("\"approvals\"", "\"approved\"", |error| matches!(error, DecodeError::Form(_))),
        ("\"note_add\": false", "\"note_add\": 0", |error| matches!(error, DecodeError::Form(_))),
        ("\"gone\": true", "\"gone tool\": true", |error| matches!(error, DecodeError::Name(_))),
        ("\"content\": false", "\"Content\": false", |error| matches!(error, DecodeError::Name(_))),
        ("\"helper\"", "\"help er\"", |error| matches!(error, DecodeError::Name(_))),
        ("\"old\"", "\"Old\"", |error| matches!(error, DecodeError::Name(_))),
        ("\"idempotent_write\"", "\"writes\"", |error| {
            matches!(error, DecodeError::Declarations(_))
        }),
        ("\"schema\": {\"type\"", "\"schema\": {\"typ\"", |error| {
            matches!(error, DecodeError::Schema(_))
        }),
    ];
    for (from, to, expected) in cases {
        let damaged = file(AGENT).replacen(from, to, 1);
        assert_ne!(damaged, file(AGENT), "{from}");
        let error = read(damaged).unwrap_err();
        assert!(expected(&error), "{from}: {error:?}");
    }
}
