/** The template that something's words are: as it is when its editor opens. */
import type { Template } from '../../api.generated.ts';
import { type Load, useLoad } from '../../use-load.ts';
import type { Version } from './words.ts';

type Read = { is_there: false; load: Load<Template> } | { is_there: true; version: Version | null };

/** `slug` is null where there is none yet; one that is gone is none either. */
export function useVersion(project: string, slug: string | null): Read {
  const load = useLoad(
    'GET /projects/{project}/email-templates/{slug}',
    slug === null ? null : { path: { project, slug } },
  );
  if (slug === null || load.error?.status === 404) return { is_there: true, version: null };
  if (!load.data) return { is_there: false, load };
  return { is_there: true, version: { template: load.data, etag: load.etag } };
}
