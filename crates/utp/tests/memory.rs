//! What a hostile peer can make a connection hold, counted by the allocator.
#![allow(unsafe_code)] // an allocator that counts has to be one

#[allow(dead_code)] // the fuzz targets use the rest of these bodies
#[path = "../../../fuzz/src/bodies/connection.rs"]
mod connection;

use afteryou_utp::packet::Kind;
use connection::{forged, Forged, Machine, Number, Op, Setup, Start, MAX_PAYLOAD};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator; counts the bytes that each thread holds.
struct Counting;

fn count(bytes: isize) {
    // Threads that are just ending have no counter any more.
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

/// What an allocation costs beyond its bytes, and at least, in a usual allocator.
fn cost(size: usize) -> isize {
    (size + 8).max(32).next_multiple_of(16) as isize
}

// SAFETY: everything is left to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(cost(layout.size()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-cost(layout.size()));
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Slots for packets out of order: their number is bounded, and an empty slot is as large as a full one.
const SLOTS: u64 = 32 * 32_768;

/// Default settings, or a receive buffer of 4000 bytes.
fn held_after(small: bool, attack: impl Fn(&mut Machine)) -> u64 {
    let setup = Setup { controller: 3, start: Start::Receiving, options: u8::from(small), seq_nr: 0 };
    let mut machine = Machine::new(setup);
    let before = HELD.get();
    attack(&mut machine);
    (HELD.get() - before).max(0) as u64
}

fn send(machine: &mut Machine, seq_nr: Number, payload: u16) {
    machine.run(&Op::Packet(Forged { seq_nr, payload, ..forged(Kind::Data) }));
}

#[test]
fn packets_in_order_hold_little_more_than_the_buffer_however_small_they_are() {
    for payload in [1, 2, 10, 100, 255, 256, 257, MAX_PAYLOAD] {
        let held = held_after(true, |machine| {
            for _ in 0..5_000 / payload + 1 {
                // Every second packet is acknowledged; then the next number is known.
                send(machine, Number::Near(0), payload);
                send(machine, Number::Near(1), payload);
            }
        });
        let slack = 4096 + 2 * u64::from(MAX_PAYLOAD);
        assert!(held < 2 * 4_000 + slack, "{payload}-byte packets: {held} bytes are held for 4000");
    }
}

#[test]
fn packets_out_of_order_hold_no_more_than_the_buffer_and_their_slots() {
    for (small, buffer) in [(true, 4_000), (false, 8 << 20)] {
        for payload in [0, 1, 100, MAX_PAYLOAD] {
            let held = held_after(small, |machine| {
                for seq_nr in (0..=u16::MAX).rev() {
                    send(machine, Number::Exactly(seq_nr), payload);
                }
            });
            // Small payloads out of order cost an allocation each.
            let most = 2 * buffer + SLOTS + 16_384 * 64;
            assert!(held < most, "{payload}-byte packets: {held} of {most} bytes");
        }
    }
}

#[test]
fn a_sender_whose_peer_keeps_the_first_packet_holds_no_more_than_its_scoreboard() {
    let setup = Setup { controller: 3, start: Start::Sending, options: 0, seq_nr: 0 };
    let mut machine = Machine::new(setup);
    let before = HELD.get();
    for _ in 0..3_000 {
        machine.run(&Op::Write(60_000));
        let ack_nr = Number::Near(-(machine.connection.statistics().max_packets_outstanding as i16));
        machine.run(&Op::Packet(Forged { ack_nr, sack: Some(vec![0xFF; 255]), ..forged(Kind::State) }));
    }
    let held = (HELD.get() - before).max(0) as u64;
    let unsent = machine.connection.writable() as u64 + (16 << 20);
    assert!(held < 8192 * (1352 + 256) + 2 * unsent, "{held} bytes");
}
