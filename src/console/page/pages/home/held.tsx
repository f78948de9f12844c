/** The holds of a restore, and both ways on. */
import type { Overview } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { counted } from '../../components/quantity.tsx';
import { Time } from '../../components/time.tsx';
import { person } from '../../session.ts';

export function Held({ of, onChange }: { of: Overview['held']; onChange(): void }) {
  if (of === null) return null;
  return (
    <div class="notice warn">
      <p>
        <strong>A restore holds {tellHeld(of)}.</strong> They may have gone out since the backup of{' '}
        <Time at={of.backup.created_at} /> was made, so that nothing of them goes on by itself.
      </p>
      {person.value?.can_administer && (
        <div class="row">
          <LetGoButtons told={tellHeld(of)} onChange={onChange} />
        </div>
      )}
    </div>
  );
}

/** Both ways on; `told`: what is held. */
export function LetGoButtons({ told = 'They', onChange }: { told?: string; onChange(): void }) {
  const letGo = async (): Promise<void> => {
    await askFirst({
      title: 'Let all go on?',
      submit: 'Let all go on',
      told: (
        <p>{told} go on as if they had waited. What went out since the backup was made goes out twice.</p>
      ),
    });
    await call('POST /release', { body: {} }).finally(onChange);
  };
  const drop = async (): Promise<void> => {
    await askFirst({
      title: 'Drop what was due before the restore?',
      submit: 'Drop what was due',
      tone: 'bad',
      told: (
        <p>
          It counts as done: mails that waited and broadcasts that had begun are cancelled, and steps of
          sequences are skipped. What is due later goes on.
        </p>
      ),
    });
    await call('POST /release', { body: { drop: true } }).finally(onChange);
  };
  return (
    <>
      <ActionButton act={letGo} done="All goes on">
        Let all go on
      </ActionButton>
      <ActionButton act={drop} kind="bad" done="What was due counts as done">
        Drop what was due
      </ActionButton>
    </>
  );
}

function tellHeld(of: NonNullable<Overview['held']>): string {
  const kinds = [
    [of.mails, counted(of.mails, 'mail')],
    [of.sequences, counted(of.sequences, 'sequence')],
    [of.broadcasts, counted(of.broadcasts, 'broadcast')],
    [of.schedules, counted(of.schedules, 'schedule')],
    [of.deliveries, `${counted(of.deliveries, 'call')} of webhooks`],
    [of.jobs, counted(of.jobs, 'sign-up or run').replace('sign-up or runs', 'sign-ups and runs')],
  ] as const;
  return new Intl.ListFormat('en').format(kinds.flatMap(([n, words]) => (n > 0 ? [words] : [])));
}
