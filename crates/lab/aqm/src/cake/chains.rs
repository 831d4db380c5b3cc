//! Three lists of a tin's queues, each queue in one of them or in none.

/// The end of a list.
const NONE: u32 = u32::MAX;

/// The lists of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    /// Queues that have just become active.
    New,
    /// Queues that take turns.
    Old,
    /// Empty queues whose state has not decayed.
    Decaying,
}

/// The lists. A queue moves from any place of one to the end of another in constant time.
#[derive(Clone, Debug)]
pub struct Chains {
    ends: [[u32; 2]; 3],
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    chain: Option<Chain>,
    before: u32,
    after: u32,
}

impl Chains {
    /// Creates empty lists for queues numbered from 0.
    pub fn new(queues: usize) -> Chains {
        let place = Place { chain: None, before: NONE, after: NONE };
        Chains { ends: [[NONE; 2]; 3], places: vec![place; queues] }
    }

    /// Returns the first queue of a list.
    pub fn first(&self, chain: Chain) -> Option<usize> {
        let [first, _] = self.ends[chain as usize];
        (first != NONE).then_some(first as usize)
    }

    /// Takes a queue out of the list that it is in.
    pub fn remove(&mut self, queue: usize) {
        let Place { chain: Some(chain), before, after } = self.places[queue] else { return };
        let ends = &mut self.ends[chain as usize];
        match before {
            NONE => ends[0] = after,
            _ => self.places[before as usize].after = after,
        }
        match after {
            NONE => ends[1] = before,
            _ => self.places[after as usize].before = before,
        }
        self.places[queue].chain = None;
    }

    /// Moves a queue to the end of a list.
    pub fn append(&mut self, chain: Chain, queue: usize) {
        self.remove(queue);
        let ends = &mut self.ends[chain as usize];
        let [_, last] = *ends;
        self.places[queue] = Place { chain: Some(chain), before: last, after: NONE };
        match last {
            NONE => ends[0] = queue as u32,
            _ => self.places[last as usize].after = queue as u32,
        }
        ends[1] = queue as u32;
    }

    /// Returns the queues of the new and the old list, among which are all with packets.
    pub fn active(&self) -> impl Iterator<Item = usize> + '_ {
        [Chain::New, Chain::Old].into_iter().flat_map(move |chain| {
            std::iter::successors(self.first(chain), move |queue| {
                let after = self.places[*queue].after;
                (after != NONE).then_some(after as usize)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn the_lists_are_those_of_a_model_in_which_each_queue_is_in_one_at_most(
            steps in prop::collection::vec((0..6usize, 0..4usize), 1..200),
        ) {
            let kinds = [Chain::New, Chain::Old, Chain::Decaying];
            let mut chains = Chains::new(6);
            let mut model: [VecDeque<usize>; 3] = Default::default();
            for (queue, step) in steps {
                model.iter_mut().for_each(|list| list.retain(|listed| *listed != queue));
                match kinds.get(step) {
                    None => chains.remove(queue),
                    Some(chain) => {
                        chains.append(*chain, queue);
                        model[step].push_back(queue);
                    }
                }
                for (chain, list) in kinds.into_iter().zip(&model) {
                    prop_assert_eq!(chains.first(chain), list.front().copied());
                }
                let active: Vec<_> = model[..2].iter().flatten().copied().collect();
                prop_assert_eq!(chains.active().collect::<Vec<_>>(), active);
            }
        }
    }
}
