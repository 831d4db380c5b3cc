//! Addresses: one of each family for each flow on either side.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An end of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where data come from.
    Senders,
    /// Where data go to.
    Receivers,
}

/// An address family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

/// A flow's addresses in one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Of its sender.
    pub sender: IpAddr,
    /// Of its receiver.
    pub receiver: IpAddr,
}

/// Most flows: the last 16 bits of an address number them from 1.
pub const MOST_FLOWS: usize = 4096;

impl Side {
    /// Both.
    pub const BOTH: [Side; 2] = [Side::Senders, Side::Receivers];

    /// Returns the opposite side.
    pub fn opposite(self) -> Side {
        match self {
            Side::Senders => Side::Receivers,
            Side::Receivers => Side::Senders,
        }
    }

    /// Returns the side's number in addresses.
    fn number(self) -> u8 {
        match self {
            Side::Senders => 1,
            Side::Receivers => 2,
        }
    }

    /// Returns the address of a flow here.
    pub fn address(self, family: Family, flow: usize) -> IpAddr {
        let [high, low] = (flow as u16 + 1).to_be_bytes();
        match family {
            Family::V4 => Ipv4Addr::new(10, self.number(), high, low).into(),
            Family::V6 => Ipv6Addr::new(0xfd00, self.number().into(), 0, 0, 0, 0, 0, flow as u16 + 1).into(),
        }
    }
}

impl Family {
    /// Both.
    pub const BOTH: [Family; 2] = [Family::V4, Family::V6];

    /// Returns the length of the prefix that is one address.
    pub fn host_prefix(self) -> u8 {
        match self {
            Family::V4 => 32,
            Family::V6 => 128,
        }
    }
}

impl Addresses {
    /// Returns the addresses of a flow.
    pub fn of(family: Family, flow: usize) -> Addresses {
        Addresses {
            sender: Side::Senders.address(family, flow),
            receiver: Side::Receivers.address(family, flow),
        }
    }
}

/// Returns the flow whose packets go to `destination` on this side; none if that is no flow's address.
pub fn flow_of(side: Side, destination: IpAddr) -> Option<usize> {
    let number = match destination {
        IpAddr::V4(address) => {
            let [ten, of_side, high, low] = address.octets();
            (ten == 10 && of_side == side.number()).then(|| u16::from_be_bytes([high, low]))
        }
        IpAddr::V6(address) => match address.segments() {
            [0xfd00, of_side, 0, 0, 0, 0, 0, number] if of_side == u16::from(side.number()) => Some(number),
            _ => None,
        },
    };
    Some(usize::from(number?.checked_sub(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_leads_back_to_its_flow_and_side() {
        for flow in [0, 1, 254, 255, 256, MOST_FLOWS - 1] {
            for family in Family::BOTH {
                for side in Side::BOTH {
                    let address = side.address(family, flow);
                    assert_eq!(flow_of(side, address), Some(flow), "{address}");
                    assert_eq!(flow_of(side.opposite(), address), None, "{address}");
                }
            }
        }
    }

    #[test]
    fn addresses_of_others_are_of_no_flow() {
        for address in ["10.1.0.0", "10.3.0.1", "224.0.0.22", "fe80::1", "ff02::16", "fd00:1::"] {
            for side in Side::BOTH {
                assert_eq!(flow_of(side, address.parse().unwrap()), None, "{address}");
            }
        }
    }
}
