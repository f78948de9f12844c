/**
 * What a browser loads: the sources below page/ bundled, named by their content and compressed. The build puts the result into
 * the executable; run from source it is made at the first request.
 */
import { join } from 'node:path';

/** A file of the bundle. Gzip is what every browser takes, over plain HTTP as well. */
export interface Asset {
  name: string;
  type: string;
  gzip_base64: string;
}

export interface Bundle {
  /** Names of the files that the page itself names. */
  script: string;
  style: string;
  font: string;
  icon: string;
  assets: readonly Asset[];
}

// scripts/build.ts replaces this name by a literal; run from source, it is not defined.
declare const SATCHEL_CONSOLE: string;

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
};

const FONT = 'inter-4-latin.woff2';

let loading: Promise<Bundle> | null = null;

/** The bundle of this Satchel. */
export function loadBundle(): Promise<Bundle> {
  loading ??=
    typeof SATCHEL_CONSOLE === 'undefined' ? buildBundle() : Promise.resolve(JSON.parse(SATCHEL_CONSOLE));
  return loading;
}

/** Bundles the sources. Throws an AggregateError where they cannot be. */
export async function buildBundle(): Promise<Bundle> {
  const page = join(import.meta.dir, 'page');
  const { outputs } = await Bun.build({
    entrypoints: [join(page, 'main.tsx'), join(page, 'style.css')],
    target: 'browser',
    external: ['/console/assets/*'],
    format: 'esm',
    splitting: true,
    minify: true,
    publicPath: '/console/assets/',
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const assets = await Promise.all(
    outputs.map(async (output) =>
      assetOf(output.path.replace(/^.*\//, ''), new Uint8Array(await output.arrayBuffer())),
    ),
  );
  const icon = await readIcon(page);
  // Parts that pages share are named after an entry too; only an entry's own kind tells them apart.
  const entry = (pattern: RegExp): string =>
    assets.find(({ name }, index) => pattern.test(name) && outputs[index]?.kind !== 'chunk')?.name ?? '';
  return {
    script: entry(/^main-.*\.js$/),
    style: entry(/^style-.*\.css$/),
    font: FONT,
    icon: icon.name,
    assets: [...assets, icon, ...(await readFont(page))],
  };
}

function assetOf(name: string, bytes: Uint8Array<ArrayBuffer>): Asset {
  const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return { name, type, gzip_base64: Bun.gzipSync(bytes, { level: 9 }).toBase64() };
}

/** No source names it: the page does. */
async function readIcon(page: string): Promise<Asset> {
  const bytes = await Bun.file(join(page, 'icon.svg')).bytes();
  return assetOf(`icon-${Bun.hash.crc32(bytes).toString(36)}.svg`, bytes);
}

/** In a style that is bundled it would stand as text, which the policy of the page refuses. Another one is to have another name. */
function readFont(page: string): Promise<Asset[]> {
  // Its licence wants to go along with each copy.
  const names = [FONT, 'inter-license.txt'];
  return Promise.all(
    names.map(async (name) => assetOf(name, await Bun.file(join(page, 'fonts', name)).bytes())),
  );
}
