/** Verifying a backup: all of it is read, and restored to a scratch place. */
import { useState } from 'preact/hooks';
import type { Backup } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Panel } from '../../components/page.tsx';

export function Verify({ of }: { of: Backup }) {
  const [result, setResult] = useState<{ ok: boolean; findings: readonly string[] } | null>(null);
  const verify = async (): Promise<void> => {
    setResult(null);
    setResult(await call('POST /backups/{backup}/verify', { path: { backup: of.name } }));
  };
  return (
    <Panel
      title="Verify"
      lead="Reads all of it, restores it to a scratch place and checks that. It takes minutes where much is stored; stay on this page for the answer."
    >
      <div class="stack">
        {result && (
          <div class={`notice ${result.ok ? 'good' : 'bad'}`} role="status">
            <p>
              <strong>{result.ok ? 'The backup is sound.' : 'The backup is not sound.'}</strong>
            </p>
            {result.findings.map((finding) => (
              <p key={finding} class="said">
                {finding}
              </p>
            ))}
          </div>
        )}
        <div>
          <ActionButton act={verify}>Verify</ActionButton>
        </div>
      </div>
    </Panel>
  );
}
