/** The mail of a broadcast, written in its own place. */
import { useState } from 'preact/hooks';
import type { Broadcast } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Empty, Loaded, PageHeader } from '../../components/page.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { useVersion, WritingPage } from '../writing/writing-page.tsx';
import { BroadcastStatus, isPlanned } from './part.tsx';

interface Path {
  project: string;
  broadcast: string;
}

export default function WriteBroadcastPage({ params }: PageProps<'project' | 'broadcast'>) {
  const load = useLoad('GET /projects/{project}/email-broadcasts/{broadcast}', { path: params });
  if (load.data && isPlanned(load.data))
    return <Write key={params.broadcast} path={params} loaded={load.data} />;
  const back = hrefOf(to`/projects/${params.project}/broadcasts/${params.broadcast}`);
  return (
    <>
      <PageHeader title="The mail" back={{ href: back, label: load.data?.name ?? 'Broadcast' }} />
      <Loaded load={load}>
        {() => (
          <div class="panel">
            <Empty title="What has begun to be sent does not change any more">
              <p>A copy of it can be changed, and sent anew.</p>
              <a href={back}>Back to the broadcast</a>
            </Empty>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Write({ path, loaded }: { path: Path; loaded: Broadcast }) {
  const [of] = useState(loaded);
  const { project } = path;
  const here = hrefOf(to`/projects/${project}/broadcasts/${path.broadcast}`);
  const load = useVersion(project, of.template);
  if (!load.is_there) return <Loaded load={load.load}>{() => null}</Loaded>;
  const { version } = load;
  return (
    <WritingPage
      title={of.name}
      back={{ href: here, label: 'Broadcast' }}
      beside={<BroadcastStatus of={of} />}
      lead={
        of.status === 'scheduled'
          ? 'It waits for its time: what you write is in it once you publish it.'
          : undefined
      }
      actions={(writing) => (
        <a class={writing.is_unpublished.value ? 'button' : 'button primary'} href={here}>
          Review and send
        </a>
      )}
      place={{
        project,
        key: `broadcast:${of.id}`,
        is_live: of.status === 'scheduled',
        preheader: of.preheader,
        campaign: {
          name: of.name,
          save: async (body) => {
            await call('PATCH /projects/{project}/email-broadcasts/{broadcast}', {
              path,
              if_match: null,
              body,
            });
          },
        },
      }}
      loaded={version}
      kind={(now) => ({
        project,
        list: of.list,
        is_marketing: true,
        layout: now ? now.template.layout : 'marketing',
        values: of.variables,
      })}
    />
  );
}
