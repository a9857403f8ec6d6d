//! Prints title, language, main text and links of an HTML file, or of stdin.
//!
//! ```sh
//! cargo run -p pagetext --example extract -- page.html http://docs.example/page.html
//! ```

use std::io::{self, Read};

use pagetext::{Normalizer, PageReader, PageSource};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut body = Vec::new();
    match arguments.next().as_deref() {
        None | Some("-") => drop(io::stdin().read_to_end(&mut body)?),
        Some(path) => body = std::fs::read(path)?,
    }
    let url = arguments.next().unwrap_or_else(|| "http://localhost/".to_owned());
    let url = Normalizer::default().absolute(&url)?;
    let page = PageSource::new(&url, &body);
    let reader = PageReader::default();
    let content = reader.render(page);
    println!("title:    {}", content.title.as_deref().unwrap_or("-"));
    println!("language: {}", content.language.as_deref().unwrap_or("-"));
    println!("charset:  {}", content.charset);
    println!("author:   {}", content.provenance.who.as_deref().unwrap_or("-"));
    println!("date:     {}", content.provenance.when.as_deref().unwrap_or("-"));
    if let Some(reading) = reader.reading(page) {
        println!("\n{}", reading.text);
    }
    println!("\n{} links", content.links.len());
    for link in &content.links {
        println!("  {}{}", link.url, if link.nofollow { " (nofollow)" } else { "" });
    }
    Ok(())
}
