/** Downloading a backup, with how far it is. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Backup } from '../../api.generated.ts';
import { callRaw } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Panel } from '../../components/panel.tsx';
import { tellBytes } from '../../components/quantity.tsx';
import { toast } from '../../components/toast.tsx';
import { isAbort, saveFile } from './save-file.ts';

export function Download({ of }: { of: Backup }) {
  const [bytes, setBytes] = useState<number | null>(null);
  const running = useRef<AbortController | null>(null);
  // Whoever leaves the page leaves the download.
  useEffect(() => () => running.current?.abort(), []);
  const total = of.size_bytes ?? 0;
  const download = async (): Promise<void> => {
    const controller = new AbortController();
    running.current = controller;
    try {
      const open = () => callRaw('GET /backups/{backup}', { path: { backup: of.name } });
      const is_saved = await saveFile(open, {
        ...{ name: of.name, signal: controller.signal, onProgress: setBytes },
      });
      if (is_saved) toast(`${of.name} is downloaded`);
    } catch (error) {
      if (!isAbort(error)) throw error;
    } finally {
      setBytes(null);
    }
  };
  return (
    <Panel
      title="Download"
      lead="Keep a copy on another machine. Whoever has it, and the master key, has everything: the download is noted in the audit trail."
    >
      <div class="stack">
        {bytes !== null && (
          <div>
            <progress aria-label="Downloaded so far" max={Math.max(1, total)} value={bytes} />
            <p class="muted">
              {tellBytes(bytes)} of {tellBytes(total)}
            </p>
          </div>
        )}
        <div class="row">
          <ActionButton act={download}>Download {tellBytes(total)}</ActionButton>
          {bytes !== null && (
            <button type="button" class="button quiet" onClick={() => running.current?.abort()}>
              Cancel
            </button>
          )}
        </div>
      </div>
    </Panel>
  );
}
