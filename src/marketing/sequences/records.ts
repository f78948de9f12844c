/** Sequences and enrollments as answers show them. */

import { toIso } from '../../platform/host/clock.ts';
import type { ContactRow } from '../contacts/service.ts';
import type { listCounts } from './enrollment-store.ts';
import { describeStepCondition, stepsOf } from './model.ts';
import { presentStep, type StepInput } from './steps.ts';
import {
  ENROLLMENT_STATES,
  type EnrollmentRow,
  type EnrollmentState,
  type PauseReason,
  type SequenceRow,
  type SequenceStatus,
} from './tables.ts';

/** Measured, of a sequence or of one step: enrollments by state, mails by what became of them. */
export interface Numbers {
  enrolled: number;
  active: number;
  completed: number;
  exited: number;
  failed: number;
  sent: number;
  lost: number;
  waiting: number;
  clicked: number;
  opened: number;
  opened_by_machine: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
}

export interface EnrollmentRecord {
  id: string;
  sequence_id: string;
  contact_id: string;
  email: string;
  is_test: boolean;
  state: EnrollmentState;
  track: string;
  step: string;
  next_at: string | null;
  /** The mail at whose end the next delay begins. */
  waits_for: string | null;
  exit_reason: string | null;
  error: string | null;
  enrolled_at: string;
  ended_at: string | null;
}

export interface SequenceRecord {
  id: string;
  name: string;
  /** The list's id. */
  list: string;
  status: SequenceStatus;
  pause_reason: PauseReason | null;
  max_recipients: number;
  exit_events: string[];
  enroll_tags: string[];
  auto_enroll_new_contacts: boolean;
  track_opens: boolean;
  steps: (Required<StepInput> & { condition_text: string; stats: Numbers })[];
  stats: Numbers;
  created_at: string;
  updated_at: string;
}

type Count = ReturnType<typeof listCounts>[number];

/** A sequence with its numbers. */
export function present(row: SequenceRow, list: string, counts: readonly Count[]): SequenceRecord {
  const steps = stepsOf(row);
  return {
    id: row.public_id,
    name: row.name,
    list,
    status: row.status,
    pause_reason: row.pause_reason,
    max_recipients: row.max_recipients,
    exit_events: row.exit_events,
    enroll_tags: row.enroll_tags,
    auto_enroll_new_contacts: row.auto_enroll_new_contacts,
    track_opens: row.track_opens,
    steps: steps.map((step) => ({
      ...presentStep(step),
      condition_text: describeStepCondition(step),
      stats: numbersOf(counts.filter((count) => count.step === step.key)),
    })),
    // Counters of enrollments have no step; counters of mails are by step.
    stats: {
      ...numbersOf(counts.filter((count) => count.step !== '')),
      ...statesOf(counts.filter((count) => count.step === '')),
    },
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  };
}

function sumOf(counts: readonly Count[], what: string): number {
  return counts.filter((count) => count.what === what).reduce((sum, { n }) => sum + n, 0);
}

function statesOf(counts: readonly Count[]) {
  const [active, completed, exited, failed] = ENROLLMENT_STATES.map((state) => sumOf(counts, state));
  const states = { active: active ?? 0, completed: completed ?? 0, exited: exited ?? 0, failed: failed ?? 0 };
  return { enrolled: states.active + states.completed + states.exited + states.failed, ...states };
}

function numbersOf(counts: readonly Count[]): Numbers {
  return {
    ...statesOf(counts),
    sent: sumOf(counts, 'sent'),
    lost: sumOf(counts, 'lost'),
    waiting: sumOf(counts, 'waiting'),
    clicked: sumOf(counts, 'clicked'),
    opened: sumOf(counts, 'opened'),
    opened_by_machine: sumOf(counts, 'opened_by_machine'),
    bounced: sumOf(counts, 'bounced'),
    complained: sumOf(counts, 'complained'),
    unsubscribed: sumOf(counts, 'unsubscribed'),
  };
}

/** An enrollment; its contact is gone where there is none. */
export function presentEnrollment(
  row: EnrollmentRow,
  sequence: Pick<SequenceRow, 'public_id'>,
  contact: ContactRow | undefined,
): EnrollmentRecord {
  return {
    id: row.public_id,
    sequence_id: sequence.public_id,
    contact_id: contact?.public_id ?? '',
    email: contact?.email ?? '',
    is_test: row.is_test,
    state: row.state,
    track: row.track,
    step: row.step,
    next_at: toIso(row.next_at),
    waits_for: row.waits_for,
    exit_reason: row.exit_reason,
    error: row.error,
    enrolled_at: toIso(row.enrolled_at),
    ended_at: toIso(row.ended_at),
  };
}
