//! stub
/// stub
pub fn schema() -> String {
    String::new()
}
