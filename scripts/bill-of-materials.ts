/** The bill of materials of a release: which packages are in it, from where, under which licence, by whose hash. CycloneDX 1.6. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isPlainObject } from '../src/platform/http/schema.ts';

/** A package of the npm registry that is installed. */
export interface Package {
  name: string;
  version: string;
  /** As its package.json has it: an SPDX identifier, or an expression of several. Empty where it names none. */
  license: string;
  /** `sha512-` and base64, of the lockfile. */
  integrity: string;
  /** Names of those that it needs and that are installed. */
  needs: string[];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const record = (value: unknown): Record<string, unknown> => (isPlainObject(value) ? value : {});

/** What is installed in a folder, by its lockfile; throws where something has no hash there. */
export async function listPackages(folder: string): Promise<Package[]> {
  const lock = record(Bun.JSONC.parse(await Bun.file(join(folder, 'bun.lock')).text()));
  const hashes = new Map<string, string>();
  for (const entry of Object.values(record(lock.packages)))
    if (Array.isArray(entry)) hashes.set(text(entry[0]), text(entry[3]));
  const packages: Package[] = [];
  const places = ['**/node_modules/*/package.json', '**/node_modules/@*/*/package.json'].map((place) => [
    ...new Bun.Glob(place).scanSync({ cwd: folder, dot: true }),
  ]);
  // A Bun that install.sh fetched has a node_modules of its own, below .tools.
  for (const path of places.flat().filter((place) => place.startsWith('node_modules/'))) {
    const manifest = record(await Bun.file(join(folder, path)).json());
    const [name, version] = [text(manifest.name), text(manifest.version)];
    const integrity = hashes.get(`${name}@${version}`);
    const license = text(manifest.license);
    if (!integrity?.startsWith('sha512-')) throw new Error(`${name} ${version} has no hash in bun.lock`);
    const needs = Object.keys({ ...record(manifest.dependencies), ...record(manifest.optionalDependencies) });
    packages.push({ name, version, license, integrity, needs });
  }
  return packages;
}

/** Writes the bill of what several archives hold together; `packages` may name one several times. Throws where one names no licence. */
export async function writeSbom(
  path: string,
  packages: readonly Package[],
  release: { version: string; time: Date },
): Promise<void> {
  for (const { name, version, license } of packages)
    if (license === '') throw new Error(`${name} ${version} names no licence`);
  const by_ref = new Map(packages.map((one) => [purlOf(one), one]).sort() as [string, Package][]);
  const refs = new Map([...by_ref].map(([ref, { name }]) => [name, ref]));
  const satchel = {
    type: 'application',
    'bom-ref': 'satchel',
    name: 'satchel',
    version: release.version,
    licenses: licensesOf('MIT'),
  };
  const bun = {
    type: 'platform',
    'bom-ref': 'bun',
    name: 'bun',
    version: Bun.version,
    purl: `pkg:github/oven-sh/bun@bun-v${Bun.version}`,
    licenses: [
      { license: { name: 'MIT, and those of what it links', url: 'https://bun.com/docs/project/license' } },
    ],
  };
  const inter = {
    type: 'data',
    'bom-ref': 'inter',
    name: 'Inter',
    version: '4',
    licenses: licensesOf('OFL-1.1'),
  };
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([release, ...by_ref.keys()]))}`,
    version: 1,
    metadata: { timestamp: release.time.toISOString(), component: satchel },
    components: [bun, inter, ...[...by_ref].map(([ref, one]) => componentOf(ref, one))],
    dependencies: [
      { ref: 'satchel', dependsOn: ['bun', 'inter', ...by_ref.keys()] },
      ...[...by_ref].map(([ref, { needs }]) => ({
        ref,
        dependsOn: needs.flatMap((name) => refs.get(name) ?? []),
      })),
    ],
  };
  await Bun.write(path, `${JSON.stringify(bill, null, 2)}\n`);
}

function componentOf(ref: string, { name, version, license, integrity }: Package): object {
  const [scope, rest] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
  return {
    type: 'library',
    'bom-ref': ref,
    ...(scope === undefined ? {} : { group: scope }),
    name: rest,
    version,
    purl: ref,
    licenses: licensesOf(license),
    hashes: [{ alg: 'SHA-512', content }],
  };
}

/** https://github.com/package-url/purl-spec: the at sign of a scope is escaped. */
const purlOf = ({ name, version }: Package): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const licensesOf = (license: string): object[] =>
  license.includes(' ') ? [{ expression: license }] : [{ license: { id: license } }];

/** The same for the same text, in the form of a random one. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
}
