/** `satchel release`: what a restore holds goes on, or counts as done. */
import type { Projects } from '../../access/projects/service.ts';
import type { Cli } from '../../platform/cli/cli.ts';
import { requireYes, textOption } from '../../platform/cli/options.ts';
import { counted } from '../../platform/words/phrases.ts';
import type { ReleasedRecord } from './schemas.ts';
import { type Done, describeHeld, type HeldRecord, type Holds } from './service.ts';

export function registerReleaseCommand(cli: Cli<{ holds: Holds; projects: Projects }>): void {
  cli
    .topVerb('release')
    .option('--project <project>', 'of this project alone: numeric id, ULID or slug')
    .option('--drop', 'what was due before the restore counts as done, and is not sent')
    .option('--yes', 'really do it')
    .remark(`A restore stops what would go on by itself: mails that waited, sequences, broadcasts, schedules,
deliveries of webhooks, sign-ups. It may have gone out since the backup was made. Without --drop all of it goes on
as if it had waited; with --drop only what is due later does.`)
    .example('satchel release --yes', 'satchel release --project shop --drop --yes')
    .does(async ({ services, actor }, options) => {
      const ref = textOption(options, 'project');
      const project = ref === undefined ? null : services.projects.require(ref);
      const drop = options.drop === true;
      const held = services.holds.look(project?.id ?? null);
      if (held) requireYes(options, drop ? foretellDrop(held) : `lets go on: ${describeHeld(held)}`);
      const released = await services.holds.release(actor, { project, drop });
      return { json: released, text: held ? presentReleased(released) : 'Nothing is held.' };
    });
}

/** What goes on of sequences and schedules is all; of the others what is left. */
function foretellDrop({ done, ...held }: HeldRecord & { done: Done }): string {
  const { mails, sequences, broadcasts, schedules, deliveries, jobs } = held;
  const dropped = { mails: done.mails, broadcasts: done.broadcasts, deliveries, jobs };
  const goes_on = {
    mails: mails - done.mails,
    broadcasts: broadcasts - done.broadcasts,
    sequences,
    schedules,
  };
  return (
    `counts as done: ${describeDropped({ ...dropped, enrollments: done.enrollments })}; ` +
    `and lets go on: ${describeHeld(goes_on)}`
  );
}

function describeDropped({ enrollments, ...dropped }: ReleasedRecord['dropped']): string {
  if (enrollments === 0) return describeHeld(dropped);
  const steps = `the steps of ${counted(enrollments, 'contact')} in sequences that were due`;
  return Object.values(dropped).some((n) => n > 0) ? `${describeHeld(dropped)}, ${steps}` : steps;
}

function presentReleased({ went_on, dropped }: ReleasedRecord): string {
  const lines = [`It goes on: ${describeHeld(went_on)}.`];
  if (Object.values(dropped).some((n) => n > 0))
    lines.push(`It counts as done: ${describeDropped(dropped)}.`);
  return lines.join('\n');
}
