//! Python imports the module. Its behaviour is tested in Python: `pytest` in this directory.

use std::process::Command;

#[test]
fn python_imports_the_module_of_this_version() {
    let program = std::env::current_exe().unwrap();
    let built = program.with_file_name(format!(
        "{}_afteryou{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    ));
    let folder = tempfile::tempdir().unwrap();
    // Python takes no other suffix where an interpreter looks for modules of its stable interface.
    let suffix = if cfg!(windows) { ".pyd" } else { ".abi3.so" };
    std::fs::copy(&built, folder.path().join(format!("_afteryou{suffix}"))).unwrap();
    let code = "import sys; sys.version_info < (3, 10) and sys.exit(77); import _afteryou; print(_afteryou.__version__)";
    let ran = Command::new("python3").args(["-c", code]).env("PYTHONPATH", folder.path()).output();
    let Some(output) = ran.ok().filter(|output| output.status.code() != Some(77)) else {
        println!("SKIPPED: python3 is not here, or older than 3.10");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), env!("CARGO_PKG_VERSION"));
}
