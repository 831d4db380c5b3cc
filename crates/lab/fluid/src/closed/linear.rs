//! Small linear systems: pairs of eigenvalues, characteristic polynomials.

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    pub(crate) const fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }

    pub(crate) fn plus(self, other: Complex) -> Complex {
        Complex::new(self.re + other.re, self.im + other.im)
    }

    pub(crate) fn times(self, other: Complex) -> Complex {
        Complex::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }

    pub(crate) fn scaled(self, by: f64) -> Complex {
        Complex::new(self.re * by, self.im * by)
    }

    pub(crate) fn over(self, other: Complex) -> Complex {
        let square = other.re * other.re + other.im * other.im;
        self.times(Complex::new(other.re, -other.im)).scaled(1.0 / square)
    }

    pub(crate) fn exp(self) -> Complex {
        let (sin, cos) = libm::sincos(self.im);
        Complex::new(cos, sin).scaled(libm::exp(self.re))
    }

    /// Returns the distance from zero.
    pub fn abs(self) -> f64 {
        libm::hypot(self.re, self.im)
    }
}

/// The roots of `λ² + b·λ + c`: how two quantities that feed back on each other settle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// b, 1/s.
    pub b: f64,
    /// c, 1/s².
    pub c: f64,
}

impl Pair {
    /// Returns both roots, the slower one first; if they oscillate, the one with positive frequency first.
    pub fn roots(&self) -> [Complex; 2] {
        let half = self.b / 2.0;
        let discriminant = half * half - self.c;
        if discriminant < 0.0 {
            let im = libm::sqrt(-discriminant);
            return [Complex::new(-half, im), Complex::new(-half, -im)];
        }
        let fast = -half - libm::sqrt(discriminant);
        // c/fast instead of a difference of near equals; both roots are zero if one is.
        let slow = if fast == 0.0 { 0.0 } else { self.c / fast };
        [Complex::new(slow, 0.0), Complex::new(fast, 0.0)]
    }

    /// Returns the rate at which the slowest part dies away, 1/s.
    pub fn rate(&self) -> f64 {
        -self.roots()[0].re
    }

    /// Returns the frequency, rad/s; 0 if it does not oscillate.
    pub fn omega(&self) -> f64 {
        self.roots()[0].im
    }

    /// Returns the period, s; `None` if it does not oscillate.
    pub fn period_s(&self) -> Option<f64> {
        let omega = self.omega();
        (omega > 0.0).then(|| 2.0 * std::f64::consts::PI / omega)
    }

    /// Returns the damping ratio: below 1 it oscillates, at 0 indefinitely.
    pub fn damping(&self) -> f64 {
        self.b / (2.0 * libm::sqrt(self.c))
    }
}

/// Returns the product of polynomials, highest power first.
pub(crate) fn multiply(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; a.len() + b.len() - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    product
}

/// Returns `(λ + a)^n · pair`, highest power first.
pub(crate) fn polynomial(a: f64, n: u32, pair: &Pair) -> Vec<f64> {
    (0..n).fold(vec![1.0, pair.b, pair.c], |product, _| multiply(&product, &[1.0, a]))
}

/// A square matrix.
pub type Matrix = Vec<Vec<f64>>;

/// Returns the characteristic polynomial of a matrix, highest power first (Faddeev and LeVerrier).
pub fn characteristic(matrix: &Matrix) -> Vec<f64> {
    let n = matrix.len();
    let mut coefficients = vec![1.0];
    let mut m = vec![vec![0.0; n]; n];
    for k in 1..=n {
        // M ← A·M + c·1, c ← −tr(A·M)/k
        let last = coefficients[k - 1];
        let mut next: Matrix = product(matrix, &m);
        (0..n).for_each(|i| next[i][i] += last);
        m = next;
        let with = product(matrix, &m);
        let trace = (0..n).fold(0.0, |sum, i| sum + with[i][i]);
        coefficients.push(-trace / k as f64);
    }
    coefficients
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let n = a.len();
    let cell = |i: usize, j: usize| (0..n).fold(0.0, |sum, k| sum + a[i][k] * b[k][j]);
    (0..n).map(|i| (0..n).map(|j| cell(i, j)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_oscillates_below_a_damping_of_one() {
        let slow = Pair { b: 0.96, c: 80.0 };
        assert!((slow.omega() - 8.931382).abs() < 1e-5 && slow.rate() == 0.48);
        let stiff = Pair { b: 1e6, c: 1.0 };
        assert!((stiff.rate() - 1e-6).abs() < 1e-17, "no digits lost: {}", stiff.rate());
        assert_eq!(Pair { b: 0.0, c: 0.0 }.rate(), 0.0);
        assert_eq!(stiff.period_s(), None);
    }

    #[test]
    fn the_characteristic_polynomial_of_a_triangle_has_its_diagonal_for_roots() {
        let triangle = vec![vec![1.0, 5.0, -2.0], vec![0.0, 2.0, 7.0], vec![0.0, 0.0, 3.0]];
        assert_eq!(characteristic(&triangle), [1.0, -6.0, 11.0, -6.0]);
    }

    #[test]
    fn quotients_and_exponentials_of_complex_numbers() {
        let (a, b) = (Complex::new(3.0, -2.0), Complex::new(0.5, 4.0));
        let back = a.over(b).times(b);
        assert!((back.re - 3.0).abs() < 1e-12 && (back.im + 2.0).abs() < 1e-12);
        let minus_one = Complex::new(0.0, std::f64::consts::PI).exp();
        assert!((minus_one.re + 1.0).abs() < 1e-15 && minus_one.im.abs() < 1e-15);
    }
}
