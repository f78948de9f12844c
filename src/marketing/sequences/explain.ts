/** Sequences and enrollments in sentences: what was sent, what waits for what, what never comes and why. */
import type { Tx } from '../../platform/database/database.ts';
import { DAY_MS, toIso, utcDay } from '../../platform/host/clock.ts';
import { readDoneUntil } from '../../platform/jobs/restore-hold.ts';
import { explainBrake } from '../campaign-life.ts';
import type { Ended } from '../campaign-store.ts';
import type { CampaignDeps } from '../campaigns.ts';
import type { ContactRow } from '../contacts/service.ts';
import { lackOf, nextOpening, readUsage, type Settings } from '../settings/service.ts';
import * as rows from './enrollment-store.ts';
import { describeStepCondition, type Step, stepsOf, tracksOf } from './model.ts';
import type { EnrollmentRow, ExitReason, SequenceMailRow, SequenceRow } from './tables.ts';

/** Reasons for which all mail of a project waits. */
interface Waits {
  is_project_active: boolean;
  settings: Settings;
  /** Whether links in its mails lead here. */
  have_links_a_place: boolean;
  /** Mails of the project that count towards its daily cap today. */
  used_today: number;
  /** What was due in the project until then counts as done, by an operator's word after a restore; 0: nothing. */
  done_until: number;
  now_ms: number;
}

/** A mail of a step, and what its log says of it. */
interface ToldMail extends SequenceMailRow {
  /** Why it stands as it does, in the log's words; null where there is nothing to say. */
  error: string | null;
}

/* --- From the rows ------------------------------------------------------------------------------------------------- */

type ExplainDeps = Pick<CampaignDeps, 'database' | 'clock' | 'projects' | 'marketing' | 'emails'>;

/** What a contact gets and got from these sequences and, if asked for, from all others that it is in. */
export function explainContact(
  deps: ExplainDeps,
  contact: ContactRow,
  { sequences, with_others }: { sequences: readonly SequenceRow[]; with_others: boolean },
): string[] {
  const { read } = deps.database;
  const waits = waitsOf(deps, contact.project_id);
  const enrolled = rows.listOfContact(read, contact.id);
  const isOneOf = (row: SequenceRow): boolean => sequences.some(({ id }) => id === row.id);
  const told = enrolled
    .filter(({ sequence }) => with_others || isOneOf(sequence))
    .map(({ enrollment, sequence }) => {
      const mails = rows
        .listMailsOf(read, enrollment.id)
        .map((mail) => ({ ...mail, error: deps.emails.errorOf(read, mail.email_id) }));
      return explainEnrollment(enrollment, sequence, { mails, waits });
    });
  const never = sequences.filter(({ id }) => !enrolled.some(({ sequence }) => sequence.id === id));
  return [
    ...told.flat(),
    ...never.map(
      ({ name }) =>
        `${contact.email} was never enrolled in the sequence ${name}, and gets nothing of it; it is ${contact.status} on the list.`,
    ),
  ];
}

export function waitsOf({ database, marketing, clock, projects }: ExplainDeps, project_id: number): Waits {
  const now_ms = clock.now();
  const used_today = readUsage(database.read, project_id, utcDay(now_ms));
  const have_links_a_place = marketing.problemOfLinks(project_id) === null;
  const is_project_active = projects.isActive(project_id);
  return {
    is_project_active,
    settings: marketing.settings(project_id),
    have_links_a_place,
    used_today,
    done_until: readDoneUntil(database.read, project_id),
    now_ms,
  };
}

export function endedOf(read: Tx, row: SequenceRow): Ended {
  return { returned: rows.ended.countReturned(read, row), refused: rows.ended.countRefused(read, row) };
}

/* --- Sentences ----------------------------------------------------------------------------------------------------- */

/** How a sequence stands and what it waits for, one sentence a line. */
export function explainSequence(
  row: SequenceRow,
  of: {
    waits: Waits;
    ended: Ended;
    /** What a mail server said that refused its mail. */
    words: string | null;
    /** Why it waits where a restore holds it. */
    hold: string;
    next_at: number | null;
    mails: { sent: number; lost: number; waiting: number };
  },
): string[] {
  const { settings, used_today, now_ms } = of.waits;
  const opens_at = nextOpening(settings, now_ms);
  return [
    explainStatus(row, of, settings),
    ...(of.waits.is_project_active || row.status === 'finished'
      ? []
      : ['Its project is inactive: nothing is sent before that is active.']),
    ...(row.status === 'active' && opens_at > now_ms ? [`Its window opens ${toIso(opens_at)}.`] : []),
    ...(settings.daily_cap === null
      ? []
      : [`${used_today} of ${settings.daily_cap} mails of the project's daily cap are sent today.`]),
    ...explainMails(of.mails),
    of.next_at === null
      ? `Nobody waits in it${of.mails.waiting > 0 ? ' but for the end of a mail' : ''}.`
      : `Its next enrollment is due ${toIso(of.next_at)}.`,
  ];
}

function explainMails({ sent, lost, waiting }: { sent: number; lost: number; waiting: number }): string[] {
  if (sent + lost + waiting === 0) return [];
  return [`Mails so far: ${sent} taken by a relay, ${lost} lost, ${waiting} waiting for their relay.`];
}

function explainStatus(
  row: SequenceRow,
  { ended, words, hold }: { ended: Ended; words: string | null; hold: string },
  settings: Settings,
): string {
  const resume = `satchel sequence resume ${row.public_id}`;
  if (row.status === 'draft') return 'It is a draft: nothing is sent before it is activated.';
  if (row.status === 'active') return 'It is active.';
  if (row.status === 'finished') return 'It is finished for good.';
  if (row.pause_reason === 'manual') return `It is paused by hand. To go on: ${resume}`;
  if (row.pause_reason === 'moved')
    return `It is paused, as its project moved to another Satchel or came from one. To go on: ${resume}`;
  if (row.pause_reason === 'restored') return `It is paused, as ${hold} To go on with it alone: ${resume}`;
  const first = row.pause_reason === 'relay_refuses' ? 'To go on' : 'Look at the list before';
  return `It is paused: ${explainBrake(row.pause_reason, ended, settings, words)} ${first}: ${resume}`;
}

/** Where an enrollment stands, what it got, what comes, and what never will, one sentence a line. */
function explainEnrollment(
  enrollment: EnrollmentRow,
  sequence: SequenceRow,
  of: { mails: readonly ToldMail[]; waits: Waits },
): string[] {
  const test = enrollment.is_test ? ', as a test whose mail is captured' : '';
  return [
    `In the sequence ${sequence.name} since ${toIso(enrollment.enrolled_at)}, in the track ${enrollment.track}${test}.`,
    ...of.mails.map(explainMail),
    ...explainUnsent(enrollment, sequence, of),
    explainStanding(enrollment, sequence, of),
  ];
}

function explainMail(mail: ToldMail): string {
  const marks = [
    explainEnd(mail),
    ...(mail.clicked_at === null ? [] : [`clicked ${toIso(mail.clicked_at)}`]),
    ...(mail.replied_at === null ? [] : [`answered ${toIso(mail.replied_at)}`]),
    ...(mail.bounced_at === null ? [] : [`bounced ${toIso(mail.bounced_at)}`]),
    ...(mail.complained_at === null ? [] : [`complained about ${toIso(mail.complained_at)}`]),
    ...(mail.unsubscribed_at === null ? [] : [`unsubscribed ${toIso(mail.unsubscribed_at)}`]),
  ];
  const reason = mail.error === null ? '' : `: ${mail.error.replace(/\.$/, '')}`;
  return `  Step ${mail.step}: ${marks.join(', ')}${reason}. More: satchel email why ${mail.email_id}`;
}

function explainEnd({ sent_at, is_waiting, ended_at }: ToldMail): string {
  if (sent_at !== null) return `sent ${toIso(sent_at)}`;
  if (is_waiting) return 'waits for its relay';
  return ended_at === null ? 'taken back' : `lost ${toIso(ended_at)}`;
}

/** Steps that were skipped so far, and those of tracks that it left. */
function explainUnsent(
  enrollment: EnrollmentRow,
  sequence: SequenceRow,
  { mails, waits }: { mails: readonly SequenceMailRow[]; waits: Waits },
): string[] {
  const tracks = tracksOf(stepsOf(sequence));
  const [first] = tracks.keys();
  const is_sent = ({ key }: Step): boolean => mails.some(({ step }) => step === key);
  return [...tracks].flatMap(([track, steps]) => {
    const unsent = steps.filter((step) => !is_sent(step));
    if (track !== enrollment.track) {
      const was_there = track === first || unsent.length < steps.length;
      return was_there
        ? unsent.map(({ key }) => `  Step ${key}: not sent, as it left the track ${track}.`)
        : [];
    }
    const at = steps.findIndex(({ key }) => key === enrollment.step);
    const passed = enrollment.state === 'completed' ? steps : steps.slice(0, Math.max(at, 0));
    // As far as anybody knows: one that was skipped leaves no trace of its own.
    const may_be_done = enrollment.enrolled_at <= waits.done_until;
    return passed
      .filter((step) => !is_sent(step))
      .map((step) => `  Step ${step.key}: not sent, as ${explainSkipped(step, may_be_done)}.`);
  });
}

function explainSkipped(step: Step, may_be_done: boolean): string {
  const done = 'what was due before a restore counts as done';
  if (step.condition.type === 'always' && may_be_done) return done;
  const lacks = `this did not hold: ${describeStepCondition(step)}`;
  return may_be_done ? `${done}, or ${lacks}` : lacks;
}

function explainStanding(
  enrollment: EnrollmentRow,
  sequence: SequenceRow,
  { mails, waits }: { mails: readonly ToldMail[]; waits: Waits },
): string {
  const { state, ended_at, error } = enrollment;
  if (state === 'completed') return `It is complete since ${toIso(ended_at)}: nothing more comes.`;
  const awaited = mails.find(({ email_id }) => email_id === enrollment.waits_for);
  if (state === 'active' && awaited) return explainAwaited(enrollment, sequence, awaited);
  if (state === 'active') return explainNext(enrollment, sequence, waits);
  const never = explainNever(enrollment, sequence);
  if (state === 'failed') return `It failed ${toIso(ended_at)}: ${error ?? ''} ${never}`;
  return `It ended ${toIso(ended_at)}, as ${explainExit(enrollment.exit_reason ?? 'manual', enrollment, sequence)}. ${never}`;
}

function explainNext(enrollment: EnrollmentRow, sequence: SequenceRow, waits: Waits): string {
  const condition = explainCondition(enrollment, sequence);
  if (sequence.status === 'paused')
    return `The sequence is paused: the step ${enrollment.step}, due ${toIso(enrollment.next_at)}, waits until it is resumed${condition}.`;
  const next_at = enrollment.next_at ?? waits.now_ms;
  if (next_at > waits.now_ms)
    return `The step ${enrollment.step} comes ${toIso(next_at)} at the earliest${condition}.`;
  return `The step ${enrollment.step} is due since ${toIso(next_at)} and waits for ${explainWait(waits)}${condition}.`;
}

/** What comes when a mail has ended. */
function explainAwaited({ step: key }: EnrollmentRow, sequence: SequenceRow, mail: ToldMail): string {
  const paused = sequence.status === 'paused' ? 'The sequence is paused. ' : '';
  const ends = 'a relay took that mail, or the attempts at it ended';
  if (mail.step === key) return `${paused}It is complete once ${ends}.`;
  const step = stepsOf(sequence).find((one) => one.key === key);
  const condition = explainCondition({ step: key }, sequence);
  return `${paused}The step ${key} comes ${step?.delay_hours ?? 0} h after ${ends}${condition}.`;
}

function explainCondition({ step: key }: Pick<EnrollmentRow, 'step'>, sequence: SequenceRow): string {
  const step = stepsOf(sequence).find((one) => one.key === key);
  return step && step.condition.type !== 'always' ? `, if: ${describeStepCondition(step)}` : '';
}

function explainWait({ is_project_active, settings, have_links_a_place, used_today, now_ms }: Waits): string {
  if (!is_project_active) return 'its project to be active';
  const lack = lackOf(settings);
  if (lack !== null) return lack;
  if (!have_links_a_place) return 'its links to lead here (SATCHEL_PUBLIC_URL)';
  const opens_at = nextOpening(settings, now_ms);
  if (opens_at > now_ms) return `its window, which opens ${toIso(opens_at)}`;
  if (settings.daily_cap !== null && used_today >= settings.daily_cap)
    return `tomorrow (${toIso(now_ms - (now_ms % DAY_MS) + DAY_MS)}), as the daily cap of ${settings.daily_cap} is used up`;
  return 'its turn, or for a mailbox with capacity (satchel mailbox list)';
}

/** The steps of its track that it never gets because it ended. */
function explainNever(enrollment: EnrollmentRow, sequence: SequenceRow): string {
  const own = tracksOf(stepsOf(sequence)).get(enrollment.track) ?? [];
  const at = own.findIndex(({ key }) => key === enrollment.step);
  const keys = own.slice(Math.max(at, 0)).map(({ key }) => key);
  return `Never sent: ${keys.join(', ')}.`;
}

function explainExit(reason: ExitReason, enrollment: EnrollmentRow, sequence: SequenceRow): string {
  const step = stepsOf(sequence).find(({ key }) => key === enrollment.step);
  const words: Record<ExitReason, string> = {
    event: `an event happened that ends it (${sequence.exit_events.join(', ')})`,
    condition: `the condition of the step ${enrollment.step} did not hold (${step ? describeStepCondition(step) : ''})`,
    unsubscribed: 'the contact unsubscribed',
    suppressed: 'the address is suppressed',
    bounced: 'a mail to it came back for good',
    complained: 'it complained about a mail',
    sequence_finished: 'the sequence was finished',
    manual: 'it was ended by hand',
  };
  return words[reason];
}
