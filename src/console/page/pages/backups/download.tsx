/** Downloading a backup. */
import type { Backup } from '../../api.generated.ts';
import { FileLink } from '../../components/file-link.tsx';
import { Panel } from '../../components/panel.tsx';
import { tellBytes } from '../../components/quantity.tsx';

export function Download({ of }: { of: Backup }) {
  return (
    <Panel
      title="Download"
      lead="Keep a copy on another machine. Whoever has it, and the master key, has everything: the download is noted in the audit trail."
    >
      <FileLink endpoint="GET /backups/{backup}" input={{ path: { backup: of.name } }}>
        Download {tellBytes(of.size_bytes ?? 0)}
      </FileLink>
    </Panel>
  );
}
