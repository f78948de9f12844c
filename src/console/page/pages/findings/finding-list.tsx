/** Findings, each with what mends it. */
import type { Finding } from '../../api.generated.ts';
import { Command } from '../../components/copy-button.tsx';
import { wayOf } from '../../components/refusal.ts';
import { Status } from '../../components/status.tsx';
import { WithTimes } from '../../components/time.tsx';
import { hrefOf } from '../../router.ts';
import { ActButton, placeOf } from './act-button.tsx';

const TONES = { ok: 'good', warning: 'warn', problem: 'bad' } as const;

export function FindingList(props: { label: string; of: readonly Finding[]; onChange(): void }) {
  const { label, of, onChange } = props;
  return (
    <ul class="findings" aria-label={label}>
      {of.map((finding) => (
        <li key={finding.check + finding.message}>
          <div class="row">
            <Status of={finding.status} tone={TONES[finding.status]} />
            <strong>{finding.check}</strong>
          </div>
          <p class="said">
            <WithTimes text={finding.message} />
          </p>
          {finding.status !== 'ok' && <Remedy of={finding} onChange={onChange} />}
        </li>
      ))}
    </ul>
  );
}

/** The remedy of a finding: buttons that do it, else the page where it is done, if there is one, and the command. */
export function Remedy({ of: { remedy, acts, about }, onChange }: { of: Finding; onChange(): void }) {
  if (acts.length > 0) {
    const [first] = acts;
    const place = acts.length === 1 && first ? placeOf(first) : null;
    return (
      <div class="row">
        {acts.map((act) => (
          <ActButton
            key={`${act.kind} ${act.project} ${act.of}`}
            of={act}
            several={acts.length > 1}
            onChange={onChange}
          />
        ))}
        {place && <a href={hrefOf(place.path)}>{place.label}</a>}
      </div>
    );
  }
  if (remedy === null) return null;
  const page = about && wayOf(about, null);
  const is_command = /^[a-z]\S* /.test(remedy) && !remedy.includes(', ');
  return (
    <div class="row">
      {page && <a href={hrefOf(page.path)}>{page.label}</a>}
      {is_command ? <Command of={remedy} /> : <p class="muted said">{remedy}</p>}
    </div>
  );
}
