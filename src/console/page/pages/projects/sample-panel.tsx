/** On the home of the sample project: what to try in it, and its end. */

import type { Project } from '../../api.generated.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ButtonLink } from '../../components/button-link.tsx';
import { Panel } from '../../components/panel.tsx';
import { hrefOf, to } from '../../router.ts';
import { removeSample } from './sample.ts';

export function SamplePanel({ project }: { project: Project }) {
  const { slug } = project;
  return (
    <Panel title="A project to look around in">
      <p class="muted">Nothing that you send here reaches anybody: it is kept, for you to look at.</p>
      <div class="row">
        <ButtonLink kind="primary" href={hrefOf(to`/projects/${slug}/emails/new`)}>
          Send a mail
        </ButtonLink>
        <ButtonLink href={hrefOf(to`/projects/${slug}/emails`)}>See what was sent</ButtonLink>
        <ActionButton act={() => removeSample(project)} done="The sample is removed">
          Remove the sample
        </ActionButton>
      </div>
    </Panel>
  );
}
