// The same module in Rust, with its standard library and no crate: the host hands in a text and takes one out.
use std::alloc::{alloc, Layout};

#[link(wasm_import_module = "golem:tool/host@1.0.0")]
extern "C" {
    fn log(line: *const u8, size: usize);
}

// Where the host puts a text. Each call has a fresh memory, so nothing is given back.
#[no_mangle]
pub unsafe extern "C" fn cabi_realloc(_old: *mut u8, _old_size: usize, align: usize, size: usize) -> *mut u8 {
    alloc(Layout::from_size_align(size.max(1), align).unwrap())
}

// result<string, string> as the interface lays it out: 0 is ok, 1 an error.
#[repr(C)]
pub struct Answer(u32, *const u8, usize);

fn answer(told: Result<String, String>) -> *const Answer {
    let is_error = told.is_err() as u32;
    let text = Box::leak(told.unwrap_or_else(|error| error).into_boxed_str());
    Box::leak(Box::new(Answer(is_error, text.as_ptr(), text.len())))
}

// The text between the quotes of its member; escapes in it stay as they are.
fn text_of(call: &str) -> Option<&str> {
    let rest = call.split_once("\"text\":\"")?.1;
    let mut escaped = false;
    let end = rest.find(|each| {
        let is_end = each == '"' && !escaped;
        escaped = each == '\\' && !escaped;
        is_end
    })?;
    Some(&rest[..end])
}

#[no_mangle]
pub unsafe extern "C" fn run(call: *const u8, size: usize) -> *const Answer {
    let call = std::str::from_utf8_unchecked(std::slice::from_raw_parts(call, size));
    answer(text_of(call).ok_or_else(|| "no text".to_string()).map(|text| {
        let line = format!("counting {} characters", text.len());
        log(line.as_ptr(), line.len());
        format!("{{\"data\": {{\"words\": {}}}}}", text.split(' ').filter(|word| !word.is_empty()).count())
    }))
}
