// Rust's standard library makes the calls: open, read, threads.
use std::fs::File;
use std::io::Read;

fn main() {
    let mut text = String::new();
    match File::open("/etc/passwd") {
        Err(error) => println!("open: {:?}", error.raw_os_error()),
        Ok(mut file) => match file.read_to_string(&mut text) {
            Err(error) => println!("read: {:?}", error.raw_os_error()),
            Ok(size) => println!("read ok {}", size > 0),
        },
    }
    let handle = std::thread::Builder::new().spawn(|| 42);
    match handle {
        Err(error) => println!("thread: {:?}", error.raw_os_error()),
        Ok(thread) => println!("thread {}", thread.join().unwrap()),
    }
}
