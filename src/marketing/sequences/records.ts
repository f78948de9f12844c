/** Sequences and enrollments as answers show them. */
import { present } from '../../platform/http/fields.ts';
import { mailNumbersOf } from '../campaign-schemas.ts';
import type { ContactRow } from '../contacts/service.ts';
import type { listCounts } from './enrollment-store.ts';
import { describeStepCondition, stepsOf } from './model.ts';
import {
  ENROLLMENT_FIELDS,
  type EnrollmentRecord,
  FIELDS,
  type Numbers,
  type SequenceRecord,
} from './schemas.ts';
import { presentStep } from './steps.ts';
import { ENROLLMENT_STATES, type EnrollmentRow, type SequenceRow } from './tables.ts';

type Count = ReturnType<typeof listCounts>[number];

/** A sequence with its numbers. */
export function presentSequence(
  row: SequenceRow,
  of: { list: string; pause_words: string | null; counts: readonly Count[] },
): SequenceRecord {
  const { counts, ...shown } = of;
  return present(FIELDS, {
    ...row,
    ...shown,
    id: row.public_id,
    steps: stepsOf(row).map((step) => ({
      ...presentStep(step),
      condition_text: describeStepCondition(step),
      stats: numbersOf(counts.filter((count) => count.step === step.key)),
    })),
    // Counters of enrollments have no step; counters of mails are by step.
    stats: {
      ...numbersOf(counts.filter((count) => count.step !== '')),
      ...statesOf(counts.filter((count) => count.step === '')),
    },
  });
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
  return { ...statesOf(counts), ...mailNumbersOf((what) => sumOf(counts, what)) };
}

/** An enrollment; its contact is gone where there is none. */
export function presentEnrollment(
  row: EnrollmentRow,
  sequence: Pick<SequenceRow, 'public_id'>,
  contact: ContactRow | undefined,
): EnrollmentRecord {
  return present(ENROLLMENT_FIELDS, {
    ...row,
    id: row.public_id,
    sequence_id: sequence.public_id,
    contact_id: contact?.public_id ?? '',
    email: contact?.email ?? '',
  });
}
