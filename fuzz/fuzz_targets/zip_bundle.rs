//! A zip file gives no more bytes than its manifest lists, and nothing outside of the folder that it is unpacked into.
#![no_main]

use std::{
    fs,
    io::{self, Cursor},
};

use libfuzzer_sys::fuzz_target;
use toolbay_loader::Bundle;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut bundle) = Bundle::from_zip(Cursor::new(bytes.to_vec())) else { return };
    let listed: Vec<_> = bundle.manifest().parts().listed().cloned().collect();
    for file in &listed {
        let mut written = Counted(0);
        if bundle.copy_file(&file.path, &mut written).is_ok() {
            assert_eq!(written.0, file.size);
        }
    }
    let folder = tempfile_folder();
    let inside = folder.join("inside");
    fs::create_dir_all(&inside).expect("a folder to unpack into");
    let _ = bundle.unpack(&inside, |_| true);
    let beside = fs::read_dir(&folder).expect("the folder is there").count();
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    assert_eq!(beside, 1, "nothing is written beside the folder");
});

fn tempfile_folder() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("toolbay-fuzz-{}", std::process::id()))
}

struct Counted(u64);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
