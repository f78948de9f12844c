/** Pictures made of stored files, as small as they are shown: beside a file's name, and to look at. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { addressOf } from '../api.ts';
import { Icon } from './icon.tsx';

interface Pictured {
  project: string;
  of: { public_id: string; mime_type: string };
}

/** Other images have none. */
const HAS_VARIANTS = /^image\/(jpeg|png|webp|gif|bmp)\b/;
/** Twice what style.css shows, for screens with that many pixels. */
const THUMBNAIL_PX = 64;

/** Beside the name, which says what it is; the icon of files where there is no such picture. */
export function Thumbnail({ project, of }: Pictured) {
  const query = { w: THUMBNAIL_PX, h: THUMBNAIL_PX, fit: 'cover', format: 'webp' };
  return (
    <span class="thumbnail">
      <Variant project={project} of={of} query={query} alt="" otherwise={<Icon name="files" />} />
    </span>
  );
}

/** The image that the query asks for, loaded once it comes into view; `otherwise` where it can't be made. */
export function Variant(
  props: Pictured & {
    query: Readonly<Record<string, string | number>>;
    alt: string;
    otherwise: ComponentChildren;
    is_picture?: boolean;
  },
) {
  const { project, of, query, alt, otherwise, is_picture } = props;
  const [is_broken, setBroken] = useState(false);
  if (is_broken || !HAS_VARIANTS.test(of.mime_type)) return <>{otherwise}</>;
  const path = { project, public_id: of.public_id };
  return (
    <img
      class={is_picture ? 'picture' : undefined}
      src={addressOf('GET /projects/{project}/objects/{public_id}/variant', { path, query })}
      alt={alt}
      loading="lazy"
      decoding="async"
      onError={() => setBroken(true)}
    />
  );
}
