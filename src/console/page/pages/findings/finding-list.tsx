/** Findings, each with what mends it. */

import type { Finding } from '../../api.generated.ts';
import { Status } from '../../components/status.tsx';
import { WithTimes } from '../../components/with-times.tsx';
import { Remedy } from './remedy.tsx';

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
