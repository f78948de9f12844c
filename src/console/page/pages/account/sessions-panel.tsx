/** The sessions of the person. Each can be ended. */
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Badge } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useList } from '../../use-load.ts';

export function SessionsPanel() {
  const list = useList('GET /console/sessions', {});
  const end = async (session: string): Promise<void> => {
    await call('DELETE /console/sessions/{session}', { path: { session } });
    list.reload();
  };
  return (
    <section>
      <h2 class="section-title">Where you are signed in</h2>
      <DataTable
        label="Sessions"
        list={list}
        keyOf={(session) => session.id}
        empty={null}
        columns={[
          {
            title: 'Browser',
            cell: (session) => (
              <span class="badges" title={session.user_agent ?? undefined}>
                {tellBrowser(session.user_agent)}{' '}
                {session.is_current && <Badge tone="accent">this one</Badge>}
              </span>
            ),
          },
          { title: 'From', cell: (session) => <code>{session.ip ?? '—'}</code> },
          { title: 'Signed in', cell: (session) => <Time at={session.created_at} /> },
          { title: 'Last used', cell: (session) => <Time at={session.last_seen_at} /> },
          {
            title: 'End',
            is_number: true,
            cell: (session) =>
              session.is_current ? null : (
                <ActionButton is_small is_for_readers done="The session is ended" act={() => end(session.id)}>
                  End it
                </ActionButton>
              ),
          },
        ]}
      />
    </section>
  );
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
  ['curl/', 'curl'],
] as const;
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

function tellBrowser(user_agent: string | null): string {
  const has = ([mark]: readonly [string, string]): boolean => user_agent?.includes(mark) ?? false;
  const browser = BROWSERS.find(has)?.[1] ?? 'Unknown browser';
  const system = SYSTEMS.find(has)?.[1];
  return system ? `${browser} on ${system}` : browser;
}
