//! Growth of unique pages with the number of requests.

/// Maximum number of points. When it is exceeded, every second point is dropped.
const MOST: usize = 512;

/// A curve of unique pages by requests, thinned as it grows.
#[derive(Clone, Debug)]
pub struct Growth {
    requests: u64,
    unique: u64,
    judged: u64,
    /// Lines between two points.
    stride: u64,
    lines: u64,
    points: Vec<GrowthPoint>,
}

/// A point of the growth curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrowthPoint {
    /// Requests for pages.
    pub requests: u64,
    /// Pages compared.
    pub judged: u64,
    /// Unique pages.
    pub unique: u64,
}

impl Default for Growth {
    fn default() -> Self {
        Self { requests: 0, unique: 0, judged: 0, stride: 1, lines: 0, points: vec![GrowthPoint::default()] }
    }
}

impl Growth {
    /// Counts the next URL and its requests.
    pub fn add(&mut self, requests: u32, is_judged: bool, is_unique: bool) {
        if requests == 0 {
            return;
        }
        self.requests += u64::from(requests);
        self.judged += u64::from(is_judged);
        self.unique += u64::from(is_unique);
        self.lines += 1;
        if self.lines.is_multiple_of(self.stride) {
            self.points.push(self.now());
        }
        if self.points.len() > MOST {
            let mut place = 0;
            self.points.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
        }
    }

    fn now(&self) -> GrowthPoint {
        GrowthPoint { requests: self.requests, judged: self.judged, unique: self.unique }
    }

    /// Returns at most `most` points, with the first and the last.
    pub fn points(&self, most: usize) -> Vec<GrowthPoint> {
        let mut points = self.points.clone();
        if points.last() != Some(&self.now()) {
            points.push(self.now());
        }
        let last = points.len() - 1;
        let steps = last.min(most.max(2) - 1);
        if steps == 0 {
            return points;
        }
        (0..=steps).map(|step| points[step * last / steps]).collect()
    }

    /// Returns the share of unique pages in the last tenth of requests, and the number of these requests.
    pub fn lately(&self) -> Option<(f64, u64)> {
        let from =
            self.points.iter().rev().find(|point| point.requests <= self.requests - self.requests.div_ceil(10))?;
        let requests = self.requests - from.requests;
        (requests > 0).then(|| ((self.unique - from.unique) as f64 / requests as f64, requests))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stay_few_and_the_ends_are_kept() {
        let mut growth = Growth::default();
        for number in 0..100_000u32 {
            growth.add(1, true, number % 4 == 0);
        }
        growth.add(0, false, false);
        assert!(growth.points.len() <= MOST + 1);
        let points = growth.points(60);
        assert_eq!((points.len(), points[0]), (60, GrowthPoint::default()));
        assert_eq!(points[59], GrowthPoint { requests: 100_000, judged: 100_000, unique: 25_000 });
        assert!(points.is_sorted_by_key(|point| point.requests));
        let (share, requests) = growth.lately().unwrap();
        assert!((share - 0.25).abs() < 0.01 && (10_000..11_000).contains(&requests), "{share} {requests}");
    }

    #[test]
    fn nothing_grows_from_nothing() {
        assert_eq!(Growth::default().points(10), [GrowthPoint::default()]);
        assert_eq!(Growth::default().lately(), None);
    }
}
