//! What a vendor is told at compile time. After a change of words, `TRYBUILD=overwrite cargo test -p toolbay-plugin-api --test mistakes`
//! writes the expected output anew; read it before it is committed.
#![cfg(test)]

#[test]
fn mistakes_are_compile_errors_that_say_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
