/** What became of trying a relay before it is saved: its server's words, and what they mean. */
import type { RelayCheck } from '../../api.generated.ts';
import { ActionButton } from '../../components/action-button.tsx';

const STAGES: Readonly<Record<NonNullable<RelayCheck['stage']>, string>> = {
  connect: 'The server was not reached.',
  tls: 'No safe connection came about (TLS).',
  greeting: 'The server did not greet.',
  login: 'The server did not let us in.',
  sender: 'The server takes no mail from this address.',
};

/** `save`: all the same. */
export function RelayRefused({ check, save }: { check: RelayCheck; save(): Promise<void> }) {
  const { stage, words, hint } = check;
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{stage === null ? 'It did not work.' : STAGES[stage]}</strong> Nothing is saved.
      </p>
      <p>
        <q class="said">{words}</q>
      </p>
      {hint && <p>{hint}</p>}
      <p>
        <ActionButton act={save} is_small>
          Save it all the same
        </ActionButton>
      </p>
    </div>
  );
}
