/** The overview's part of the findings: one line above, which never moves what is below it, and what is to be mended at the end. */
import { Icon } from '../../components/icon.tsx';
import { Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { hrefOf } from '../../router.ts';
import { person } from '../../session.ts';
import { FindingList } from './finding-list.tsx';
import { useFindings } from './latest.ts';

/** The rest is on the page of findings. */
const MAX_SHOWN = 5;

function useToBeMended() {
  const { data, error, reload } = useFindings(person.value?.can_administer === true);
  return { data, error, reload, amiss: (data ?? []).filter(({ status }) => status !== 'ok') };
}

export function FindingsLine() {
  const { data, error, amiss } = useToBeMended();
  if (!person.value?.can_administer) return null;
  const problems = amiss.filter(({ status }) => status === 'problem').length;
  const warnings = amiss.length - problems;
  const told = [
    ...(problems > 0 ? [counted(problems, 'problem')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ].join(' and ');
  const tone = problems > 0 ? 'bad' : warnings > 0 ? 'warn' : data ? 'good' : '';
  return (
    <a class={`findings-line ${tone}`} href={hrefOf('/findings')}>
      <Icon name={tone === 'good' ? 'check' : tone === '' ? 'clock' : 'warning'} />
      <span>
        {error && 'The health could not be looked at'}
        {!error && !data && 'Looking at the health of everything…'}
        {data && (told || 'All is well')}
      </span>
      <Icon name="forward" />
    </a>
  );
}

export function FindingsPanel() {
  const { amiss: all, reload } = useToBeMended();
  // Holds of a restore have a line of their own.
  const amiss = all.filter(({ acts }) => !acts.some(({ kind }) => kind === 'release'));
  if (amiss.length === 0) return null;
  return (
    <Panel title="Needs attention" actions={<a href={hrefOf('/findings')}>All findings</a>}>
      <FindingList label="Needs attention" of={amiss.slice(0, MAX_SHOWN)} onChange={reload} />
    </Panel>
  );
}
