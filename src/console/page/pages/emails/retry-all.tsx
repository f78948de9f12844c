/** Tries again what failed and fits the filters: says how many first, and goes on until none is left of them. */
import type { RetriedEmails } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { counted } from '../../components/quantity.tsx';
import { toast } from '../../components/toast.tsx';

interface Filter {
  to?: string | undefined;
  template?: string | undefined;
  date_from?: string | undefined;
  date_to?: string | undefined;
}

export function RetryAll(props: { project: string; filter: Filter; label?: string; onChange(): void }) {
  const { project, filter, label = 'Try all again', onChange } = props;
  const retry = (dry_run: boolean): Promise<RetriedEmails> =>
    call('POST /projects/{project}/emails/retry', { path: { project }, body: { ...filter, dry_run } });
  const act = async (): Promise<void> => {
    const first = await retry(true);
    const wanted = first.matching - first.left_out - first.refused;
    if (wanted === 0) {
      toast(['None of them can be tried again together.', ...tellRest(first)].join(' '), 'bad');
      return;
    }
    await askFirst({
      title: `Try ${counted(wanted, 'mail')} again?`,
      submit: 'Try them again',
      told: (
        <>
          <p>They go out as they were accepted, oldest first, to those who have not got them.</p>
          {tellRest(first).map((told) => (
            <p key={told} class="muted">
              {told}
            </p>
          ))}
        </>
      ),
    });
    // A mail that fails again meanwhile fits again. The count keeps it from being taken a second time.
    let queued = 0;
    for (let last = 1; last > 0 && queued < wanted; queued += last) last = (await retry(false)).queued;
    onChange();
    const told = `${counted(queued, 'mail')} ${queued === 1 ? 'is' : 'are'} queued again`;
    if (queued >= wanted) toast(told);
    else toast(`${told}. No mailbox can send the others today.`, 'bad');
  };
  return (
    <ActionButton act={act} kind="primary">
      {label}
    </ActionButton>
  );
}

function tellRest({ left_out, refused }: RetriedEmails): string[] {
  return [
    ...(left_out === 0
      ? []
      : [
          `${counted(left_out, 'mail')} to be looked at one by one: who sent it was told at once that it failed, it is a test, or its broadcast sends it no more.`,
        ]),
    ...(refused === 0
      ? []
      : [`${counted(refused, 'mail')} that can’t: the content or an attachment is no longer kept.`]),
  ];
}
