/** The mail of a step, written in its own place. */
import { useState } from 'preact/hooks';
import type { Sequence, Step } from '../../api.generated.ts';
import { call, callTelling } from '../../api.ts';
import { Empty, Loaded, PageHeader } from '../../components/page.tsx';
import { Status } from '../../components/status.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { useVersion, WritingPage } from '../writing/writing-page.tsx';

interface Path {
  project: string;
  sequence: string;
}

const SEQUENCE = '/projects/{project}/email-sequences/{sequence}';

export default function WriteStepPage({ params }: PageProps<'project' | 'sequence' | 'step'>) {
  const load = useLoad(`GET ${SEQUENCE}`, { path: params });
  const step = load.data?.steps.find(({ key }) => key === params.step);
  if (load.data && step && load.data.status !== 'finished')
    return <Write key={step.key} path={params} loaded={load.data} step={step} />;
  const back = hrefOf(to`/projects/${params.project}/sequences/${params.sequence}`);
  return (
    <>
      <PageHeader title="The mail" back={{ href: back, label: load.data?.name ?? 'Sequence' }} />
      <Loaded load={load}>
        {({ status }) => (
          <div class="panel">
            <Empty title={status === 'finished' ? 'It is finished' : `It has no step ${params.step}`}>
              <a href={back}>Back to the sequence</a>
            </Empty>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Write({ path, loaded, step: loaded_step }: { path: Path; loaded: Sequence; step: Step }) {
  const [{ of, step }] = useState({ of: loaded, step: loaded_step });
  const { project } = path;
  const here = to`/projects/${project}/sequences/${path.sequence}`;
  const load = useVersion(project, step.template);
  if (!load.is_there) return <Loaded load={load.load}>{() => null}</Loaded>;
  const is_live = of.status !== 'draft';
  return (
    <WritingPage
      title={`${of.name}: ${step.key}`}
      back={{ href: `${hrefOf(here)}?step=${encodeURIComponent(step.key)}`, label: of.name }}
      beside={<Status of={of.status} />}
      lead={
        is_live ? 'The sequence runs: what you write is in the next mail once you publish it.' : undefined
      }
      place={{
        project,
        key: `step:${of.id}/${step.key}`,
        is_live,
        preheader: step.preheader,
        campaign: {
          name: `${of.name}: ${step.key}`,
          save: (changes) => changeStep(path, step.key, changes),
        },
      }}
      loaded={load.version}
      kind={(now) => ({
        project,
        list: of.list,
        is_marketing: true,
        layout: now ? now.template.layout : 'marketing',
        values: step.variables,
      })}
    />
  );
}

/** Changes one step among all as they are now. Throws ApiError, also where somebody changes them at the same moment. */
async function changeStep(
  path: Path,
  key: string,
  changes: { template?: string; preheader?: string | null },
): Promise<void> {
  const { answer, etag } = await callTelling(`GET ${SEQUENCE}`, { path });
  const steps = answer.steps.map(({ stats: _, ...step }) => {
    const { preheader, ...rest } = step.key === key ? { ...step, ...changes } : step;
    return { ...rest, ...(preheader !== null && { preheader }) };
  });
  await call(`PATCH ${SEQUENCE}`, { path, if_match: etag, body: { steps } });
}
