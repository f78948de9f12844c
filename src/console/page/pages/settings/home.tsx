/** Settings of the whole of Satchel: origins that every restricted key accepts, and which build runs where. */
import { Facts, Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Bytes } from '../../components/quantity.tsx';
import { hrefOf } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { GlobalOrigins } from './global-origins.tsx';

export default function SettingsPage() {
  return (
    <>
      <PageHeader title="Settings" lead="What holds for all projects." />
      <div class="stack">
        <GlobalOrigins />
        <About />
      </div>
    </>
  );
}

function About() {
  const load = useLoad('GET /overview', {});
  return (
    <Panel
      title="This Satchel"
      lead={
        <>
          Everything else is set where the server starts: <a href="/docs/guide/configuration">each setting</a>
          , and what it is unless it is set.
        </>
      }
    >
      <Loaded load={load}>
        {({ machine }) => (
          <Facts
            of={[
              ['Version', machine?.version],
              ['Database', machine && <Bytes of={machine.database_bytes} />],
              ['Disk free', machine && <Bytes of={machine.free_disk_bytes} />],
              ['URL', location.origin],
              [
                'API',
                <a key="api" href="/docs" target="_blank" rel="noreferrer">
                  Endpoints, with their limits
                </a>,
              ],
              [
                'Health',
                <a key="health" href={hrefOf('/findings')}>
                  Findings
                </a>,
              ],
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
