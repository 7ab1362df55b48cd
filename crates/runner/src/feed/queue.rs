//! The queue from the merging thread to one consumer: bounded, and never waited for by its sender.

use super::News;
use crate::observer::{Interests, Observed, Observer};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The usual length of a queue, in intervals.
pub const QUEUE: usize = 4;

/// Returns both ends of a queue of so many intervals, at least one: the observer that fills it, and
/// the inbox of the consumer. The begin and the end of each run come in addition.
pub fn feed(intervals: usize) -> (Feed, Inbox) {
    let shared = Arc::new(Shared::default());
    let feed = Feed {
        most: intervals.max(1),
        needs_evidence: false,
        needs_agents: false,
        kept: VecDeque::new(),
        shared: Arc::clone(&shared),
    };
    (feed, Inbox { shared })
}

/// Hands the news of runs on to a consumer, without waiting for it. Once the consumer has dropped
/// its inbox, news are dropped as well; once the feed is dropped, the inbox ends.
#[derive(Debug)]
pub struct Feed {
    most: usize,
    /// True if the consumer shows the slowest requests and the bodies of error responses.
    needs_evidence: bool,
    needs_agents: bool,
    /// The news that came while the consumer held the lock.
    kept: VecDeque<News>,
    shared: Arc<Shared>,
}

/// Receives the news of runs, on the consumer's own thread.
#[derive(Debug)]
pub struct Inbox {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    news: VecDeque<News>,
    /// The intervals that were received as part of a longer stretch.
    merged: u64,
    /// True if one of the two ends was dropped.
    is_closed: bool,
}

impl Observer for Feed {
    fn interests(&self) -> Interests {
        Interests {
            news: true,
            evidence: self.needs_evidence,
            agents: self.needs_agents,
            ..Interests::default()
        }
    }

    fn news(&mut self, news: &News) -> Observed {
        self.kept.push_back(news.clone());
        let shared = Arc::clone(&self.shared);
        match shared.queue.try_lock() {
            Ok(queue) => self.hand_over(queue),
            Err(TryLockError::Poisoned(poisoned)) => self.hand_over(poisoned.into_inner()),
            // The consumer takes something at this moment, and would have to run before this thread
            // could go on. The next news, or the end of the feed, take these with them.
            Err(TryLockError::WouldBlock) => shorten(&mut self.kept, self.most),
        }
        Ok(())
    }
}

impl Feed {
    /// Hands the slowest requests of each interval and the bodies of error responses on, too.
    #[must_use]
    pub fn with_evidence(mut self) -> Feed {
        self.needs_evidence = true;
        self
    }

    /// Hands the record of each agent on, too.
    #[must_use]
    pub fn with_agents(mut self) -> Feed {
        self.needs_agents = true;
        self
    }

    fn hand_over(&mut self, mut queue: MutexGuard<'_, Queue>) {
        if queue.is_closed {
            self.kept.clear();
            return;
        }
        queue.news.append(&mut self.kept);
        shorten(&mut queue.news, self.most);
        drop(queue);
        self.shared.came.notify_all();
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        // The runs are over: there is nothing left to hold up.
        let shared = Arc::clone(&self.shared);
        let mut queue = locked(&shared.queue);
        let was_closed = std::mem::replace(&mut queue.is_closed, true);
        if !was_closed {
            queue.news.append(&mut self.kept);
            shorten(&mut queue.news, self.most);
        }
        drop(queue);
        shared.came.notify_all();
    }
}

/// Merges the oldest interval into the next one until at most so many are left. Intervals that
/// can't be merged stay: those of the drain, and those of different runs.
fn shorten(news: &mut VecDeque<News>, most: usize) {
    let count = |news: &VecDeque<News>| {
        let is_interval = |one: &&News| matches!(one, News::Interval(_));
        news.iter().filter(is_interval).count()
    };
    while count(news) > most && merge_oldest(news) {}
}

/// Merges the first two neighbours that can be; false if there are none.
fn merge_oldest(news: &mut VecDeque<News>) -> bool {
    let neighbours = news.iter().zip(news.iter().skip(1));
    let found = neighbours.enumerate().find_map(|(index, pair)| match pair {
        (News::Interval(one), News::Interval(next)) if one.takes(next) => Some(index),
        _ => None,
    });
    let Some(index) = found else { return false };
    let Some(News::Interval(next)) = news.remove(index + 1) else {
        return false;
    };
    if let Some(News::Interval(one)) = news.get_mut(index) {
        // Another queue may hold it as well, and has it as it was.
        Arc::make_mut(one).lengthen(&next);
    }
    true
}

impl Inbox {
    /// Returns the next news, and waits for them; `None` when all runs are over.
    pub fn wait(&self) -> Option<News> {
        let mut queue = locked(&self.shared.queue);
        loop {
            if let Some(news) = queue.take() {
                return Some(news);
            }
            if queue.is_closed {
                return None;
            }
            let waited = self.shared.came.wait(queue);
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the next news that come within so long; `None` if there are none.
    pub fn wait_at_most(&self, timeout: Duration) -> Option<News> {
        let until = Instant::now() + timeout;
        let mut queue = locked(&self.shared.queue);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let news = queue.take();
            if news.is_some() || queue.is_closed || left.is_zero() {
                return news;
            }
            let waited = self.shared.came.wait_timeout(queue, left);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// True if all runs are over and everything was received.
    pub fn is_over(&self) -> bool {
        let queue = locked(&self.shared.queue);
        queue.is_closed && queue.news.is_empty()
    }

    /// Returns the number of intervals that came merged with another one.
    pub fn merged(&self) -> u64 {
        locked(&self.shared.queue).merged
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut queue = locked(&self.shared.queue);
        queue.is_closed = true;
        queue.news.clear();
    }
}

impl Queue {
    fn take(&mut self) -> Option<News> {
        let news = self.news.pop_front();
        if let Some(News::Interval(stretch)) = &news
            && stretch.intervals() > 1
        {
            self.merged += stretch.intervals();
        }
        news
    }
}

fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
