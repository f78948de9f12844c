/**
 * A picture as it looks: small enough for the page where that can be made of it, else whole, a public one at its own address, a
 * private one by a link for this moment.
 */
import { useState } from 'preact/hooks';
import type { ObjectRecord } from '../../api.generated.ts';
import { mayWrite } from '../../capabilities.ts';
import { Loaded, Panel } from '../../components/page.tsx';
import { Variant } from '../../components/variant.tsx';
import { useLoad } from '../../use-load.ts';
import type { FilePath } from './file-form.tsx';

const LOOK_S = 60;
/** Twice what style.css shows at most, for screens with that many pixels. */
const SHOWN = { w: 1440, h: 720, format: 'webp' };

export function Picture({ path, of }: { path: FilePath; of: ObjectRecord }) {
  return (
    <Panel title="Preview">
      <Variant
        is_picture
        project={path.project}
        of={of}
        query={SHOWN}
        alt={of.original_filename}
        otherwise={<WholePicture path={path} of={of} />}
      />
    </Panel>
  );
}

function WholePicture({ path, of }: { path: FilePath; of: ObjectRecord }) {
  if (of.visibility === 'public') return <Shown url={of.url} of={of} />;
  // Whoever is read-only makes no link.
  return mayWrite() ? <PrivatePicture path={path} of={of} /> : <p class="muted">It is private.</p>;
}

function PrivatePicture({ path, of }: { path: FilePath; of: ObjectRecord }) {
  const load = useLoad('POST /projects/{project}/objects/{public_id}/links', {
    path,
    body: { expires_in_seconds: LOOK_S },
  });
  return <Loaded load={load}>{({ url }) => <Shown url={url} of={of} />}</Loaded>;
}

function Shown({ url, of }: { url: string; of: ObjectRecord }) {
  const [is_broken, setBroken] = useState(false);
  if (is_broken) return <p class="muted">The browser cannot show it: it is no picture that it knows.</p>;
  // From where the console is opened: the public URL may lead elsewhere.
  const { pathname } = new URL(url);
  return <img class="picture" src={pathname} alt={of.original_filename} onError={() => setBroken(true)} />;
}
