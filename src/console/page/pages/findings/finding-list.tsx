/** Findings, each with what mends it. */

import type { Finding } from '../../api.generated.ts';
import { Status } from '../../components/status.tsx';
import { WithTimes } from '../../components/with-times.tsx';
import { Remedy } from './remedy.tsx';

const TONES = { ok: 'good', warning: 'warn', problem: 'bad' } as const;

export function FindingList({ label, of }: { label: string; of: readonly Finding[] }) {
  return (
    <ul class="findings" aria-label={label}>
      {of.map(({ check, status, message, remedy }) => (
        <li key={check + message}>
          <div class="row">
            <Status of={status} tone={TONES[status]} />
            <strong>{check}</strong>
          </div>
          <p class="said">
            <WithTimes text={message} />
          </p>
          {remedy !== null && status !== 'ok' && <Remedy of={remedy} />}
        </li>
      ))}
    </ul>
  );
}
