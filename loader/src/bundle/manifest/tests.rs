//! Each refusal of a manifest, with its code and place, beside the manifest that is taken.

use serde_json::json;

use super::*;
use crate::{
    bundle::{
        BundledDefinition,
        tests::{files, manifest},
    },
    rejection::Stage,
};

fn parse(value: &Value) -> Result<Manifest, Reason> {
    Manifest::parse(&serde_json::to_vec_pretty(value).unwrap())
}

/// The good manifest with another value at a JSON pointer, or without it.
fn with(pointer: &str, value: Option<Value>) -> Value {
    let mut manifest = manifest(&files());
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (manifest.pointer_mut(parent).unwrap(), value) {
        (Value::Object(members), Some(value)) => drop(members.insert(name.to_owned(), value)),
        (Value::Object(members), None) => assert!(members.remove(name).is_some(), "{pointer}"),
        (other, value) => other[name.parse::<usize>().unwrap()] = value.unwrap(),
    }
    manifest
}

#[test]
fn parts_are_written_in_one_form_and_read_back() {
    let read = parse(&manifest(&files())).unwrap();
    let written = read.parts().to_manifest().unwrap();
    assert_eq!(written.parts(), read.parts());
    assert_eq!(written.value(), read.value());
    assert_ne!(written.bytes(), read.bytes());
    assert_eq!(written.parts().to_manifest().unwrap(), written);
    assert_eq!(written.check_canonical(), Ok(()));
    assert_eq!(read.check_canonical().unwrap_err().code, "manifest_not_canonical");
    let text = str::from_utf8(written.bytes()).unwrap();
    assert!(text.starts_with(r#"{"description":"Keeps notes.","documentation""#), "{text}");
    assert!(text.ends_with("}\n"), "{text}");
    let mut wrong = read.parts().clone();
    wrong.vendor.clear();
    assert_eq!(wrong.to_manifest().unwrap_err().code, "bad_manifest");
}

#[test]
fn a_schema_that_lacks_properties_is_written_as_it_was_read() {
    let pointer = "/tools/0/input_schema";
    let lacking = json!({ "type": "object", "additionalProperties": false, "x": 1.50 });
    let whole = json!({ "type": "object", "properties": {}, "x": [] });
    for schema in [lacking, whole, json!({ "type": "object", "properties": [], "a": 1 })] {
        let read = parse(&with(pointer, Some(schema.clone()))).unwrap();
        let written = read.parts().to_manifest().unwrap();
        assert_eq!(written.parts(), read.parts(), "{schema}");
        assert_eq!(written.check_canonical(), Ok(()), "{schema}");
    }
    // With its properties, too, a schema has the room that there is.
    let long = |text: usize| json!({ "type": "object", "x": "x".repeat(text) });
    let room = toolbay_core::Schema::MAX_BYTES - long(0).to_string().len();
    let refused = parse(&with(pointer, Some(long(room)))).unwrap_err();
    assert_eq!(refused.code, "bad_manifest");
    assert!(parse(&with(pointer, Some(long(room - ",\"properties\":{}".len())))).is_ok());
}

#[test]
fn the_parts_are_what_the_text_says() {
    let manifest = parse(&manifest(&files())).unwrap();
    let parts = manifest.parts();
    assert_eq!((parts.id.as_str(), parts.version.to_string()), ("notes", "1.2.3".to_owned()));
    assert_eq!(parts.targets["x86_64-linux-gnu"].digest, 0xdead_beef);
    assert_eq!((parts.libraries().count(), parts.listed().count()), (2, 4));
    let [add, find] = &parts.tools[..] else { panic!("two tools") };
    assert_eq!(add.declared.declarations.loop_budget, Some(3));
    assert!(matches!(add.definition, BundledDefinition::Fixed { output_schema: Some(_), .. }));
    assert!(matches!(find.definition, BundledDefinition::Configured));
    assert!(find.declared.declarations.input.is_some());
}

#[test]
fn unknown_members_are_kept() {
    let mut value = with("/later", Some(json!({"nested": [1, 2.5, null]})));
    value["tools"][0]["later"] = json!("x");
    value["files"][0]["later"] = json!(7);
    let manifest = parse(&value).unwrap();
    assert_eq!(manifest.value(), &value);
    let canonical = Manifest::parse(&canonical_bytes(&value)).unwrap();
    assert_eq!(canonical.check_canonical(), Ok(()), "also in a signed one");
    assert_eq!(canonical.parts(), manifest.parts());
}

#[test]
fn what_is_no_manifest_of_this_format_is_told() {
    let good = serde_json::to_string(&manifest(&files())).unwrap();
    let deep = |levels: usize| {
        let value = "[".repeat(levels) + &"]".repeat(levels);
        good.replacen('{', &format!("{{\"later\":{value},"), 1)
    };
    let large = |len: usize| good.clone() + &" ".repeat(len - good.len());
    let cases: [(&str, Vec<u8>); 15] = [
        ("taken", good.clone().into_bytes()),
        ("manifest_not_json", Vec::new()),
        ("manifest_not_json", good.as_bytes()[..good.len() - 1].to_vec()),
        ("manifest_not_json", [good.as_bytes(), b"{}"].concat()),
        ("manifest_not_json", [b"\xef\xbb\xbf", good.as_bytes()].concat()),
        ("manifest_not_json", good.replace("notes", "\u{0}").into_bytes()),
        ("manifest_not_json", [&good.as_bytes()[..20], b"\xff"].concat()),
        ("taken", deep(126).into_bytes()),
        ("manifest_not_json", deep(127).into_bytes()),
        ("taken", large(Manifest::MAX_BYTES).into_bytes()),
        ("manifest_too_large", large(Manifest::MAX_BYTES + 1).into_bytes()),
        ("duplicate_member", good.replacen('{', "{\"id\":\"x\",", 1).into_bytes()),
        (
            "duplicate_member",
            good.replacen("\"epoch\":1", "\"epoch\":1,\"epoch\":1", 1).into_bytes(),
        ),
        ("bundle_format", b"[]".to_vec()),
        ("bundle_format", b"{}".to_vec()),
    ];
    for (expected, bytes) in cases {
        let start = String::from_utf8_lossy(&bytes).chars().take(60).collect::<String>();
        let code = Manifest::parse(&bytes).map_or_else(|reason| reason.code, |_| "taken");
        assert_eq!(code, expected, "{} bytes of {start}", bytes.len());
    }
    for other in [json!(2), json!(0), json!("1"), json!(1.5), json!(null), json!([1])] {
        let reason = parse(&with("/toolbay_bundle", Some(other.clone()))).unwrap_err();
        assert_eq!((reason.code, &reason.found), ("bundle_format", &other.to_string()));
        assert!(reason.expected.contains("\"toolbay_bundle\": 1"), "{reason}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let hash = "0".repeat(64);
    let tool = manifest(&files())["tools"][0].clone();
    let x86 = "/targets/x86_64-linux-gnu";
    let cases = [
        ("/id", json!(7), "id: invalid type: integer"),
        ("/id", json!("../x"), "id: provider id: expected"),
        ("/version", json!("1.2"), "version: "),
        ("/minimum_host", json!("latest"), "minimum_host: "),
        ("/vendor", json!(""), "vendor: "),
        ("/vendor", json!(" x"), "vendor:  x"),
        ("/vendor", json!("x".repeat(101)), "vendor: xxx"),
        ("/vendor", json!("a\u{202e}b"), "vendor: a\\u{202e}b"),
        ("/license", json!("a\nb"), "license: a\\nb"),
        ("/description", json!(false), "description: invalid type: boolean"),
        ("/homepage", json!("javascript:x"), "homepage: javascript:x"),
        ("/egress", json!("internet"), "egress: egress: expected one of none, own_site"),
        ("/documentation", json!("docs/other.md"), "documentation: docs/other.md"),
        ("/icon", json!(7), "icon: invalid type: integer"),
        ("/targets", json!({}), "targets: none"),
        ("/targets", json!({"X y": tool}), "targets.X y: missing field `epoch`"),
        (&format!("{x86}/epoch"), json!(-1), "targets.x86_64-linux-gnu.epoch: invalid value"),
        (&format!("{x86}/digest"), json!("+000000deadbeef"), "targets.x86_64-linux-gnu.digest: "),
        (&format!("{x86}/digest"), json!("00000000DEADBEEF"), "targets.x86_64-linux-gnu.digest: "),
        (&format!("{x86}/libraries"), json!([]), "targets.x86_64-linux-gnu: none"),
        (
            &format!("{x86}/libraries/1"),
            json!({"path": "lib/other.so", "size": 1, "sha256": hash}),
            "targets.x86_64-linux-gnu.libraries: lib/other.so",
        ),
        ("/files/0/sha256", json!("00"), "files[0].sha256: expected 64 hexadecimal digits"),
        ("/files/1/size", json!("1"), "files[1].size: invalid type: string"),
        ("/files/1/size", json!(1.5), "files[1].size: invalid type: floating point"),
        ("/tools/1", tool.clone(), "tools[1]: note_add twice"),
        ("/tools/1", json!(7), "tools[1]: invalid type: integer"),
        // Arrays of what the members hold.
        (
            "/files/0",
            json!(["docs/x", 1, hash]),
            "files[0]: invalid type: sequence, expected an object",
        ),
        (
            x86,
            json!([1, "00000000deadbeef", []]),
            "targets.x86_64-linux-gnu: invalid type: sequence",
        ),
        ("/tools/0", json!(["a", [], "", ""]), "tools[0]: invalid type: sequence"),
        ("/tools/0/name", json!("a b"), "tools[0]: tool name: expected"),
        ("/tools/0/aliases/0", json!(1), "tools[0].aliases[0]: invalid type"),
        ("/tools/0/effect", json!("harmless"), "tools[0]: effect: expected one of"),
        ("/tools/0/requires_admin", json!("no"), "tools[0].requires_admin: invalid type"),
        ("/tools/0/label", json!("a\u{1b}"), "tools[0]: label of note_add has a control"),
        ("/tools/0/description", json!(" "), "tools[0]: "),
        ("/tools/0/configured", json!(true), "tools[0]: something else"),
        ("/tools/1/configured", json!(false), "tools[1]: something else"),
        ("/tools/0/input_schema", json!([]), "tools[0].input_schema: schema is not"),
        ("/tools/0/output_schema", json!({"type": "array"}), "tools[0].output_schema: "),
        ("/tools/1/requires_approval", json!(true), "tools[1]: note_find asks for an input"),
    ];
    for (pointer, value, expected) in cases {
        let reason = parse(&with(pointer, Some(value.clone()))).unwrap_err();
        let verdict = (reason.stage, reason.code);
        assert_eq!(verdict, (Stage::Bundle, "bad_manifest"), "{pointer} {value}: {reason}");
        assert!(reason.found.starts_with(expected), "{pointer} {value}: {reason}");
        assert!(!reason.to_string().contains(char::is_control), "{reason}");
    }
    let required = [
        "id",
        "version",
        "vendor",
        "license",
        "minimum_host",
        "egress",
        "targets",
        "files",
        "tools",
    ];
    for name in required {
        let reason = parse(&with(&format!("/{name}"), None)).unwrap_err();
        assert_eq!(reason.code, "bad_manifest", "{name}");
        assert!(reason.found.contains(&format!("missing field `{name}`")), "{reason}");
    }
    for name in ["description", "homepage", "documentation", "icon", "tools/0/output_schema"] {
        assert!(parse(&with(&format!("/{name}"), None)).is_ok(), "{name}");
    }
}

#[test]
fn paths_sizes_and_egress_have_codes_of_their_own() {
    let hash = "0".repeat(64);
    let file = |path: &str, size: u64| json!({"path": path, "size": size, "sha256": hash});
    let more = |extra: Vec<Value>| {
        let mut manifest = manifest(&files());
        manifest["files"].as_array_mut().unwrap().extend(extra);
        manifest
    };
    let limit = crate::MAX_FILE_LEN;
    let many = |count: usize| (0..count).map(|number| file(&format!("f/{number}"), 0)).collect();
    let cases = [
        ("taken", more(vec![file("docs/more.md", limit)])),
        ("bad_path", more(vec![file("../x", 1)])),
        ("bad_path", with("/icon", Some(json!("/etc/x")))),
        ("colliding_paths", more(vec![file("docs/GUIDE.md", 1)])),
        ("colliding_paths", more(vec![file("docs/guide.md/x", 1)])),
        ("colliding_paths", more(vec![file("Toolbay.JSON", 1)])),
        ("colliding_paths", more(vec![file("toolbay.json.minisig", 1)])),
        ("bundle_too_large", more(vec![file("a", limit + 1)])),
        ("bundle_too_large", more(vec![file("a", limit), file("b", limit)])),
        ("bundle_too_large", more(vec![file("a", u64::MAX)])),
        ("taken", more(many(crate::MAX_BUNDLE_ENTRIES - 4))),
        ("too_many_files", more(many(crate::MAX_BUNDLE_ENTRIES - 3))),
        ("taken", with("/egress", Some(json!("configured_endpoint")))),
        ("egress_understated", with("/egress", Some(json!("none")))),
    ];
    for (number, (expected, value)) in cases.into_iter().enumerate() {
        // The large ones are indented beyond the limit.
        let code = Manifest::parse(&canonical_bytes(&value))
            .map_or_else(|reason| reason.code, |_| "taken");
        assert_eq!(code, expected, "case {number}");
    }
    let reason = parse(&more(vec![file("a/../b", 1)])).unwrap_err();
    assert!(reason.found.starts_with("files[2].path: "), "{reason}");
    let libraries = json!({"epoch": 1, "digest": "0".repeat(16), "libraries": [file("/x", 1)]});
    let reason = parse(&with("/targets", Some(json!({"a\nb": libraries})))).unwrap_err();
    assert_eq!(reason.found, "targets.a\\nb.libraries[0].path: \"/x\"");
}
