/** Says on each page of a project that its mail goes nowhere, for as long as it does. */
import type { ProjectWithKeys } from '../api.generated.ts';
import { may } from '../capabilities.ts';
import { hrefOf, usePath } from '../router.ts';
import { ButtonLink } from './button-link.tsx';

export function CapturedNote({ project }: { project: ProjectWithKeys | null }) {
  const path = usePath();
  if (project?.mail !== 'captured') return null;
  return (
    <div class="notice warn above" role="status">
      <p>
        <strong>Mail of this project is kept here, and sent to nobody.</strong>
        {!may('can_administer') && ' Whoever runs this Satchel can set up sending.'}
      </p>
      <ButtonLink is_small href={hrefOf(`/set-up-sending?next=${encodeURIComponent(path)}`)}>
        Set up sending
      </ButtonLink>
    </div>
  );
}
