/** Who sends in the name of a domain, by what receivers report, and what is to be done about it. */
import { Loaded, Panel } from '../../components/page.tsx';
import { Tiles } from '../../components/tiles.tsx';
import { useLoad } from '../../use-load.ts';

export function Reports({ name }: { name: string }) {
  const load = useLoad('GET /sending-domains/{name}/reports', { path: { name } });
  return (
    <Panel
      title="Who sends in its name"
      lead="What receivers reported in the last 30 days (DMARC). Anybody can write such a report: nothing acts on one."
    >
      <Loaded load={load}>
        {({ organizations, total, aligned, policy, sources, tls }) =>
          organizations.length === 0 ? (
            <p class="muted">
              Nobody reported yet. Reports come to the address in rua= of its DMARC record, where a mailbox of
              it has an inbox.
            </p>
          ) : (
            <div class="stack">
              <Tiles
                of={[
                  { label: 'Mails', value: total, note: `by ${organizations.length} reporting` },
                  { label: 'Not aligned', value: total - aligned, note: policy ? `policy: ${policy}` : '' },
                  { label: 'TLS sessions failed', value: tls.failed, note: `of ${tls.sessions}` },
                ]}
              />
              <ul class="told">
                {sources.map(({ ip, count, words }) => (
                  <li key={ip}>
                    <code>{ip}</code>, {count === 1 ? '1 mail' : `${count} mails`}: {words}
                  </li>
                ))}
              </ul>
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}
