//! What a host hears of writes: once for each that landed.

use toolbay_core::{BackendError, Effect, Offer, Origin, RawReply, ReplyStatus};

use crate::{
    desk::{Desk, acme, admin, guarded, writer},
    fixture::{Fake, reader, user},
};

#[test]
fn a_write_that_landed_is_heard_of_once() {
    type End = fn() -> Result<RawReply, BackendError>;
    let ok: End = || Ok(RawReply::text(ReplyStatus::Ok, "done"));
    let failed: End = || Ok(RawReply::text(ReplyStatus::Failed, "no"));
    let cancelled: End = || Ok(RawReply::text(ReplyStatus::Cancelled, "stopped"));
    let broken: End = || Err(BackendError::DeadlineExceeded);
    let malformed: End =
        || Ok(RawReply { status: ReplyStatus::Ok, text: "".into(), rest: "[".into() });
    let mut idempotent = writer("t");
    idempotent.declarations.effect = Effect::IdempotentWrite;
    let cases = [
        (writer("t"), ok, 1),
        (idempotent, ok, 1),
        (guarded("t"), ok, 0),
        (writer("t"), failed, 0),
        (writer("t"), cancelled, 0),
        (writer("t"), broken, 0),
        (writer("t"), malformed, 0),
    ];
    for (parts, end, heard) in cases {
        let effect = parts.declarations.effect;
        let desk = Desk::of([(parts, Fake::new(move |_| end()))]);
        let bo = user("bo", false);
        desk.call(&bo, "t", "{}").unwrap_err();
        assert_eq!(desk.written.heard().len(), 0, "{effect}: it waits");
        desk.approve(&admin()).unwrap();
        assert_eq!(desk.written.heard(), vec!["t of acme for user:bo by r1"; heard], "{effect}");
        let _ = desk.call(&bo, "t", "{}");
        assert_eq!(desk.written.heard().len(), heard, "{effect}: it was handed out, not repeated");
    }
}

#[test]
fn a_write_that_needs_no_approval_is_heard_of_as_well() {
    let mut far = reader("far");
    far.declarations.effect = Effect::NonIdempotentWrite;
    let offer = Offer { origin: Origin::Remote, ..acme("1", [(far, Fake::echo())]) };
    let desk = Desk::with_rules(vec![offer], vec![]);
    for times in 1..3 {
        desk.call(&user("bo", false), "far", "{}").unwrap();
        assert_eq!(desk.written.heard(), vec!["far of acme for user:bo by nobody"; times]);
    }
}

#[test]
fn a_denied_or_refused_write_is_not_heard_of() {
    let desk = Desk::of([(writer("t"), Fake::echo())]);
    let bo = user("bo", false);
    desk.call(&bo, "t", "[]").unwrap_err();
    desk.call(&bo, "t", "{}").unwrap_err();
    desk.deny(&admin()).unwrap();
    desk.call(&bo, "t", "{}").unwrap_err();
    assert_eq!(desk.written.heard(), Vec::<String>::new());
}
