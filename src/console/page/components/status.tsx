/** The state of a thing, in a word and a colour that means the same everywhere. */
type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'neutral';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  delivered: 'good',
  completed: 'good',
  verified: 'good',
  ok: 'good',
  sent: 'good',
  running: 'good',
  subscribed: 'good',
  confirmed: 'good',
  ready: 'good',
  pending: 'warn',
  paused: 'warn',
  unverified: 'warn',
  complained: 'warn',
  suppressed: 'warn',
  degraded: 'warn',
  failed: 'bad',
  unknown: 'bad',
  bounced: 'bad',
  error: 'bad',
  missing: 'bad',
  queued: 'accent',
  sending: 'accent',
  testing: 'accent',
  scheduled: 'accent',
  processing: 'accent',
  importing: 'accent',
};

export function Status({ of, tone }: { of: string; tone?: Tone }) {
  return <span class={`badge ${tone ?? TONES[of] ?? 'neutral'}`}>{of.replaceAll('_', ' ')}</span>;
}

/** A word about a thing that is no state: a permission, a kind. */
export function Badge({
  children,
  tone = 'neutral',
}: {
  children: string;
  tone?: 'neutral' | 'accent' | 'warn' | 'bad';
}) {
  return <span class={`badge plain ${tone}`}>{children}</span>;
}
