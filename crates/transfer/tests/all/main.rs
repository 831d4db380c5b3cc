//! Admission, disks, jobs and the corpus, over real sockets on loopback.

mod alone;
mod corpus;
mod disk;
mod door;
mod half_open;
mod jobs;
mod over_ssh;
mod security_page;
