//! The program `ndcrawl`: parse, run, exit code.

fn main() -> std::process::ExitCode {
    ndcrawl::cli::main()
}
