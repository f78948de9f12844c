/** Conditions, the way through tracks, windows and the look ahead: pure functions against what was decided. */
import { describe, expect, test } from 'bun:test';
import {
  type Condition,
  decide,
  describeStepCondition,
  firstStep,
  holds,
  type Step,
  stepAfter,
  tracksOf,
} from '../../../src/marketing/sequences/model.ts';
import { walk } from '../../../src/marketing/sequences/preview.ts';
import { isOpen, nextOpening } from '../../../src/marketing/settings/window.ts';

function step(key: string, fields: Partial<Step> = {}): Step {
  return {
    ...{ key, track: 'main', position: 0, template: 't', delay_hours: 0, variables: {} },
    ...{ preheader: null, condition: { type: 'always' }, otherwise: 'skip', is_final: false },
    ...fields,
  };
}

const facts = (has_clicked: boolean, ...events: string[]) => ({ has_clicked, events: new Set(events) });
const clicked: Condition = { type: 'clicked' };
const bought: Condition = { type: 'event', event: 'bought' };

describe('a condition', () => {
  test.each<[Condition, boolean, string[], boolean]>([
    [{ type: 'always' }, false, [], true],
    [clicked, true, [], true],
    [clicked, false, [], false],
    [{ type: 'not_clicked' }, true, [], false],
    [{ type: 'not_clicked' }, false, [], true],
    [bought, false, ['bought'], true],
    [bought, false, ['other'], false],
    [{ type: 'no_event', event: 'bought' }, false, ['bought'], false],
    [{ type: 'no_event', event: 'bought' }, false, [], true],
    [{ type: 'all', of: [clicked, bought] }, true, ['bought'], true],
    [{ type: 'all', of: [clicked, bought] }, true, [], false],
    [{ type: 'all', of: [clicked, { type: 'all', of: [bought] }] }, true, ['bought'], true],
  ])('%j with clicked %p and %j is %p', (condition, has_clicked, events, expected) => {
    expect(holds(condition, facts(has_clicked, ...events))).toBe(expected);
  });

  test('is told in words, with what happens otherwise', () => {
    expect(describeStepCondition(step('a'))).toBe('always');
    const both = step('b', {
      condition: { type: 'all', of: [clicked, { type: 'no_event', event: 'bought' }] },
    });
    expect(describeStepCondition(both)).toBe(
      'a link of the last message was clicked, and the event bought did not happen since the enrollment; otherwise the step is skipped',
    );
    expect(describeStepCondition({ ...both, condition: clicked, otherwise: 'exit' })).toEndWith(
      'otherwise the contact leaves the sequence',
    );
    expect(describeStepCondition({ ...both, condition: bought, otherwise: { route_to: 'late' } })).toEndWith(
      'otherwise the contact goes on in the track late',
    );
  });
});

describe('the way', () => {
  const steps = [
    step('hello', { position: 1 }),
    step('offer', { position: 2, condition: clicked, otherwise: { route_to: 'late' } }),
    step('bye', { position: 3, is_final: true }),
    step('again', { track: 'late', position: 9, is_final: true }),
    step('early', { track: 'late', position: 8 }),
  ];
  const tracks = tracksOf(steps);

  test('begins with the first track and goes by position', () => {
    expect(firstStep(tracks)?.key).toBe('hello');
    expect(tracks.get('late')?.map(({ key }) => key)).toEqual(['early', 'again']);
    expect(firstStep(tracksOf([]))).toBeNull();
  });

  const [hello = step(''), offer = step(''), bye = step('')] = steps;
  test('leads on, out and over', () => {
    expect(stepAfter(tracks, hello, { result: 'send' })).toMatchObject({
      step: { key: 'offer' },
      counts_from: 'last_sending',
    });
    expect(stepAfter(tracks, hello, { result: 'skip' })).toMatchObject({
      step: { key: 'offer' },
      counts_from: 'last_sending',
    });
    expect(stepAfter(tracks, offer, { result: 'route', track: 'late' })).toMatchObject({
      step: { key: 'early' },
      counts_from: 'now',
    });
    expect(stepAfter(tracks, offer, { result: 'exit' })).toEqual({ end: 'condition' });
    expect(stepAfter(tracks, bye, { result: 'send' })).toEqual({ end: 'completed' });
    expect(stepAfter(tracks, bye, { result: 'skip' })).toEqual({ end: 'completed' });
    expect(decide(offer, facts(false))).toEqual({ result: 'route', track: 'late' });
    expect(decide(offer, facts(true))).toEqual({ result: 'send' });
  });
});

describe('a window', () => {
  const berlin = (start: string | null, end: string | null) => ({
    ...{ send_window_start: start, send_window_end: end, timezone: 'Europe/Berlin' },
  });
  const at = (text: string) => Date.parse(text);

  test.each([
    ['09:00', '17:00', '2030-01-15T07:59:59Z', false],
    ['09:00', '17:00', '2030-01-15T08:00:00Z', true],
    ['09:00', '17:00', '2030-01-15T15:59:59Z', true],
    ['09:00', '17:00', '2030-01-15T16:00:00Z', false],
    ['22:00', '06:00', '2030-01-15T21:30:00Z', true],
    ['22:00', '06:00', '2030-01-15T04:59:00Z', true],
    ['22:00', '06:00', '2030-01-15T05:00:00Z', false],
  ])('%s to %s at %s is open: %p', (start, end, moment, expected) => {
    expect(isOpen(berlin(start, end), at(moment))).toBe(expected);
  });

  test.each([
    ['09:00', '17:00', '2030-01-15T05:12:34Z', '2030-01-15T08:00:00Z'],
    ['09:00', '17:00', '2030-01-15T12:12:34Z', '2030-01-15T12:12:34Z'],
    ['09:00', '17:00', '2030-01-15T16:00:00Z', '2030-01-16T08:00:00Z'],
    ['22:00', '06:00', '2030-01-15T10:00:00Z', '2030-01-15T21:00:00Z'],
    // Clocks go forward on 2030-03-31: 09:00 is an hour earlier in UTC, and 02:30 does not exist.
    ['09:00', '17:00', '2030-03-30T17:00:00Z', '2030-03-31T07:00:00Z'],
    ['02:30', '02:45', '2030-03-31T00:00:00Z', '2030-04-01T00:30:00Z'],
    ['02:30', '04:00', '2030-03-31T00:00:00Z', '2030-03-31T01:00:00Z'],
    // And back on 2030-10-27: 02:30 comes twice, the first one counts.
    ['02:30', '04:00', '2030-10-26T23:00:00Z', '2030-10-27T00:30:00Z'],
  ])('%s to %s opens next after %s at %s', (start, end, moment, expected) => {
    expect(new Date(nextOpening(berlin(start, end), at(moment))).toISOString()).toBe(
      new Date(expected).toISOString(),
    );
  });

  test('without hours is always open', () => {
    expect(nextOpening(berlin(null, null), 5)).toBe(5);
  });
});

describe('the look ahead', () => {
  const window = { send_window_start: '09:00', send_window_end: '17:00', timezone: 'UTC' };
  const steps = [
    step('hello'),
    step('offer', { position: 1, delay_hours: 20, condition: clicked, otherwise: { route_to: 'late' } }),
    step('bye', { position: 2, delay_hours: 24, is_final: true }),
    step('again', { track: 'late', delay_hours: 48, is_final: true }),
  ];
  const look = (answers: { events?: { event: string; after_hours: number }[]; clicks?: string[] } = {}) =>
    walk(steps, {
      ...{ exit_events: ['bought'], window, max_entries: 10 },
      answers: { start_at: Date.parse('2030-01-15T18:00:00Z'), events: [], clicks: [], ...answers },
    });
  const told = (timeline: ReturnType<typeof look>['timeline']) =>
    timeline.map(({ key, at, result }) => `${key} ${new Date(at).toISOString().slice(0, 16)} ${result}`);

  test('waits for the window, and counts delays from the sending', () => {
    const { timeline, end } = look({ clicks: ['hello'] });
    expect(told(timeline)).toEqual([
      'hello 2030-01-16T09:00 send',
      'offer 2030-01-17T09:00 send',
      'bye 2030-01-18T09:00 send',
    ]);
    expect(end.reason).toBe('completed');
  });

  test('routes who did not click, counting from then', () => {
    expect(told(look().timeline)).toEqual([
      'hello 2030-01-16T09:00 send',
      // Only mails wait for the window.
      'offer 2030-01-17T05:00 route',
      'again 2030-01-19T09:00 send',
    ]);
  });

  test('ends at an exit event', () => {
    const { timeline, end } = look({ events: [{ event: 'bought', after_hours: 20 }] });
    expect(told(timeline)).toEqual(['hello 2030-01-16T09:00 send']);
    expect(end).toEqual({ at: Date.parse('2030-01-16T14:00:00Z'), reason: 'event' });
  });

  test('knows a click as the event that the service makes of it', () => {
    const asking = [
      step('a'),
      step('b', { position: 1, condition: { type: 'event', event: 'clicked' } }),
      step('c', { position: 2, is_final: true }),
    ];
    const always = { send_window_start: null, send_window_end: null, timezone: 'UTC' };
    const options = { window: always, max_entries: 9 };
    const of = (clicks: string[], exit_events: string[] = []) =>
      walk(asking, { ...options, exit_events, answers: { start_at: 0, events: [], clicks } });
    expect(of(['a']).timeline.map(({ result }) => result)).toEqual(['send', 'send', 'send']);
    expect(of(['c']).timeline.map(({ result }) => result)).toEqual(['send', 'skip', 'send']);
    const left = of(['a'], ['clicked']);
    expect([left.timeline.map(({ key }) => key), left.end.reason]).toEqual([['a'], 'event']);
    // Behind the last step there is nothing left to end.
    expect(of(['c'], ['clicked']).end.reason).toBe('completed');
  });

  test('ends where tracks go in a circle', () => {
    const circle = [step('a', { condition: clicked, otherwise: { route_to: 'main' }, delay_hours: 1 })];
    const { end, timeline } = walk(circle, {
      ...{ exit_events: [], window: { ...window, send_window_start: null, send_window_end: null } },
      ...{ answers: { start_at: 0, events: [], clicks: [] }, max_entries: 5 },
    });
    expect({ reason: end.reason, entries: timeline.length }).toEqual({ reason: 'endless', entries: 5 });
  });
});
