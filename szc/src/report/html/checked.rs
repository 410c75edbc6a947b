//! What the tests of every page ask of it.
#![forbid(unsafe_code)]

use serde_json::Value;

/// The JSON of a page, found as a browser would.
pub fn data_of(page: &str) -> Value {
    let start = page.find("type=\"application/json\">").unwrap() + 24;
    let length = page[start..].find("</script").unwrap();
    serde_json::from_str(&page[start..start + length]).unwrap()
}

/// How many numbers of a page name their place in its data. Each is the one that stands there.
pub fn numbers_of(page: &str, data: &Value) -> usize {
    let mut numbers = 0;
    for part in page.split("<data value=\"").skip(1) {
        let (value, rest) = part.split_once("\" data-json=\"").unwrap();
        let pointer = rest.split_once('"').unwrap().0;
        let found = data.pointer(pointer).and_then(Value::as_f64);
        assert_eq!(found, value.parse().ok(), "{pointer}");
        numbers += 1;
    }
    numbers
}
