// Formats figures for people: with a unit, and with an interval wherever one is known.

export function formatDigits(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e6 || size < 1e-3) return d3.format('.3~g')(value);
  return d3.format(size >= 100 ? ',.0f' : size >= 10 ? '.1f' : size >= 1 ? '.2f' : '.3~r')(value);
}

const decimals = value => (value >= 100 ? 0 : value >= 10 ? 1 : 2);

export const formatRatio = value => value.toFixed(decimals(value)) + '×';

// Formats [median, low, high] as "1.84× [1.79, 1.90]".
export function formatSpeedup(interval) {
  if (!interval) return '–';
  const places = decimals(interval[0]);
  return `${interval[0].toFixed(places)}× [${interval[1].toFixed(places)}, ${
      interval[2].toFixed(places)}]`;
}

// Returns 'good' if it is surely faster, 'bad' if it is surely slower, and '' otherwise.
export const signOf = interval =>
    (!interval           ? '' :
         interval[1] > 1 ? 'good' :
         interval[2] < 1 ? 'bad' :
                           '');

export function formatTime(interval) {
  if (!interval) return '–';
  const size = Math.abs(interval[0]);
  const [unit, scale] = size < 1e-3 ? ['ns', 1e6] :
      size < 1                      ? ['µs', 1e3] :
      size < 1e3                    ? ['ms', 1] :
                                      ['s', 1e-3];
  const places = decimals(interval[0] * scale);
  const [median, low, high] = interval.map(x => (x * scale).toFixed(places));
  return `${median} ${unit} [${low}, ${high}]`;
}

export function formatSeconds(seconds) {
  if (seconds < 100) return seconds.toFixed(seconds < 10 ? 1 : 0) + ' s';
  const whole = Math.floor(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function formatCount(value) {
  if (value < 1000) return String(value);
  if (value < 1e6) return (value / 1e3).toFixed(value < 1e5 ? 1 : 0) + ' k';
  return (value / 1e6).toFixed(1) + ' M';
}

export const formatMoney = usd => (usd > 0 ? '$' + usd.toFixed(usd < 0.1 ? 4 : 2) : '–');

export const words = name => String(name).replace(/_/g, ' ');

// Converts the {"median", "ci95"} of an evaluation to [median, low, high].
export function intervalOf(ratio, median = 'median', ends = 'ci95') {
  if (!ratio || typeof ratio[median] !== 'number') return null;
  return [
    ratio[median], ...(Array.isArray(ratio[ends]) ? ratio[ends] : [ratio[median], ratio[median]])
  ];
}

export const timeOf = timing => intervalOf(timing, 'median_ms', 'ci95_ms');

export const formatPercent = share =>
    (share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0) + ' %';
