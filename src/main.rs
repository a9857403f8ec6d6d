//! The program `ndcrawl`: parse, run, exit code.

/// Memory grows with what is kept, not with the largest pages that each thread has seen.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    ndcrawl::cli::main()
}
