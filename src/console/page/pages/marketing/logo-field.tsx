/** The logo: an address, or one of the project's public pictures, chosen among those in Files. */
import { useState } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { Loaded } from '../../components/page.tsx';
import { Variant } from '../../components/variant.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { useChangesOf, useRested } from '../../use-rested.ts';

/** Pictures that mail programs show. */
const PICTURE = /^image\/(png|jpeg|gif|webp)$/;
const SHOWN = 50;
/** Twice what style.css shows, for screens with that many pixels. */
const SMALL = { w: 320, h: 144, format: 'webp' };

export function LogoField({ project, value }: { project: string; value: string | null }) {
  const [url, setUrl] = useState(value ?? '');
  const [is_choosing, setChoosing] = useState(false);
  const field = useChangesOf(url);
  return (
    <>
      <Field
        name="brand_logo_url"
        label="Logo"
        hint="An https address that anybody can load: mail programs show no other."
      >
        {(ties) => (
          <div class="with-button" ref={field}>
            <input
              {...ties}
              class="input"
              type="url"
              value={url}
              placeholder="https://shop.example.com/logo.png"
              autocomplete="off"
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
            <button type="button" class="button" onClick={() => setChoosing(true)}>
              Choose from Files
            </button>
          </div>
        )}
      </Field>
      {is_choosing && (
        <Pictures
          project={project}
          needs_https
          onClose={() => setChoosing(false)}
          onChoose={(chosen) => {
            setUrl(chosen);
            setChoosing(false);
          }}
        />
      )}
    </>
  );
}

interface PicturesProps {
  project: string;
  /** Says so, and offers none, where files of this server have another address. */
  needs_https?: boolean;
  onChoose(url: string): void;
  onClose(): void;
}

export function Pictures({ project, needs_https = false, onChoose, onClose }: PicturesProps) {
  const [typed, setTyped] = useState('');
  const q = useRested(typed.trim());
  const load = useLoad('GET /projects/{project}/objects', {
    path: { project },
    query: { visibility: 'public', per_page: SHOWN, ...(q !== '' && { q }) },
  });
  return (
    <Dialog title="Choose a picture" onClose={onClose}>
      <input
        class="input"
        type="search"
        aria-label="Name of the file"
        placeholder="Name of the file"
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <Loaded load={load}>
        {({ data }) => {
          const pictures = data.filter(({ mime_type }) => PICTURE.test(mime_type));
          if (pictures.length === 0)
            return (
              <p class="muted">
                There is no public picture here. Add one under{' '}
                <a href={hrefOf(to`/projects/${project}/files`)}>Files</a>, as PNG, JPEG, GIF or WebP.
              </p>
            );

          const http = needs_https && pictures.find(({ url }) => !url.startsWith('https://'));
          if (http)
            return (
              <p class="notice warn">
                A logo needs an https address, and files here begin with {new URL(http.url).origin}: mail
                programs would not show it. Give the address of a picture elsewhere, or choose one here once
                this server is reached by https.
              </p>
            );
          return (
            <ul class="pictures" aria-label="Public pictures">
              {pictures.map((picture) => (
                <li key={picture.public_id}>
                  <button type="button" class="button quiet" onClick={() => onChoose(picture.url)}>
                    <Variant
                      project={project}
                      of={picture}
                      query={SMALL}
                      alt=""
                      otherwise={<img src={new URL(picture.url).pathname} alt="" loading="lazy" />}
                    />
                    <span>{picture.original_filename}</span>
                  </button>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Dialog>
  );
}
