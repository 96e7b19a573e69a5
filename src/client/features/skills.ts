// Skills (Agent Skills, extension io.modelcontextprotocol/skills): listing them, and reading their files, which are verified.

import { methods } from '../../protocol/methods.ts';
import type { JsonObject, Resource, ResourceContents } from '../../protocol/model.ts';
import { skillsExtension } from '../../protocol/revisions/index.ts';
import { type Skill, skillFileName, skillFolder, skillProblem } from '../../protocol/skills.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { ClientError, clientErrors } from '../errors.ts';
import { guarded } from '../guarded-listener.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { CallOptions, ReadOptions } from '../options.ts';
import { resolveSkillFile } from '../skills/file-uri.ts';
import { type SkillFileContents, SkillVerifier } from '../skills/verify-file.ts';
import { clean, quote } from '../untrusted-text.ts';
import { type FeatureContext, requireOffered } from './feature-context.ts';
import { ListReader } from './lists.ts';
import type { Resources } from './resources.ts';

export type { SkillFileContents } from '../skills/verify-file.ts';

/** Options of a list of skills. */
export interface SkillListOptions extends ReadOptions {
  /** Gets each entry that is left out because it is not valid, to tell the user. It is logged in any case. */
  readonly onInvalid?: ((entry: { readonly uri: string | undefined; readonly why: string }) => void) | undefined;
}

/** The skills of a server. A skill is known by its URI and its server: other servers can have one with the same URI. */
export interface ClientSkills {
  /**
   * The skills that the server lists; none if it does not declare the extension. It may have others, which `get` finds by
   * their URI. Entries that are not valid are left out with a warning. No file is read.
   */
  list(options?: SkillListOptions): Promise<Skill[]>;
  /**
   * The current entry of a skill. Rejects with code `skill-not-found` if the server has no such skill, and with
   * `invalid-result` if the entry is not valid.
   *
   * @param uri the URI of its `SKILL.md`
   */
  get(uri: string, options?: ReadOptions): Promise<Skill>;
  /**
   * Reads one file of a skill. Its size and its digest must be those of the entry, and the YAML of `SKILL.md` must be the
   * frontmatter of the entry; otherwise, and for a file that the entry does not list, this rejects with code
   * `skill-mismatch`. That says that entry and file belong together, not that you can trust the server.
   *
   * @param skill an entry of `list` or `get`
   * @param file its URI, or its path in the folder of the skill; default `SKILL.md`
   *
   * @example
   * const [skill] = await client.skills.list();
   * if (skill !== undefined) console.log((await client.skills.read(skill)).text);
   */
  read(skill: Skill, file?: string, options?: ReadOptions): Promise<SkillFileContents>;
  /**
   * What is directly in a folder at the moment: files, and folders, whose type is `inode/directory`. Needs a server that
   * declares `directoryRead`. What a skill consists of is what its entry lists.
   *
   * @param uri of the folder, without a slash at its end
   */
  directory(uri: string, options?: CallOptions): Promise<Resource[]>;
}

/** The skills of one server. */
export class Skills implements ClientSkills {
  readonly #context: FeatureContext;
  readonly #resources: Resources;
  readonly #verifier = new SkillVerifier();

  constructor(context: FeatureContext, resources: Resources) {
    this.#context = context;
    this.#resources = resources;
  }

  async list(options: SkillListOptions = {}): Promise<Skill[]> {
    assertCallOptions('skills.list', options, 'skills');
    const { logger } = this.#context;
    const onInvalid = options.onInvalid && guarded(options.onInvalid, 'onInvalid', logger);
    const kind = { row: methods.listSkills, key: 'skills', strings: [] } as const;
    const found = await new ListReader<Skill>(this.#context, kind, (skill) => {
      const why = skillProblem(skill);
      const { uri } = skill as { readonly uri: unknown };
      if (why !== undefined) onInvalid?.({ uri: typeof uri === 'string' ? clean(uri) : undefined, why: clean(why) });
      return why;
    }).all(options);
    const skills = new Map<string, Skill>();
    for (const skill of found) {
      if (!skills.has(skill.uri)) skills.set(skill.uri, skill);
      else logger.warn('a skill is listed twice', { uri: clean(skill.uri) });
    }
    return [...skills.values()];
  }

  async get(uri: string, options: ReadOptions = {}): Promise<Skill> {
    assertCallOptions('skills.get', options, 'read');
    const row = methods.getSkill;
    requireOffered(this.#context, row);
    const { cache, caller } = this.#context;
    const { cache: use = 'use' } = options;
    if (use === 'use') {
      const known = cache?.get(row.name, uri);
      if (known !== undefined) return known as Skill;
    }
    const call = new OutgoingCall(
      row,
      `"uri":${JSON.stringify(uri)}`,
      (result) => {
        const skill = toSkill(result, uri);
        if (use !== 'bypass') cache?.set(row.name, uri, skill, result);
        return skill;
      },
      options,
    );
    call.idempotent = true;
    return caller.start<Skill>(call).catch((error: unknown) => {
      const { serverError } = error instanceof ClientError ? error : {};
      throw serverError?.code === -32602 ? clientErrors.skillNotFound(uri, serverError) : error;
    });
  }

  async read(skill: Skill, file: string = skillFileName, options: ReadOptions = {}): Promise<SkillFileContents> {
    assertCallOptions('skills.read', options, 'read');
    const problem = skillProblem(skill);
    if (problem !== undefined) throw clientErrors.configuration(`The entry of the skill is not valid: ${problem}`);
    const uri = resolveSkillFile(skill, file);
    if (uri === undefined) throw clientErrors.skillMismatch(skill.uri, file, unlisted(skill));
    const { cache } = this.#context;
    const row = methods.readResource;
    const wasCached = (options.cache ?? 'use') === 'use' && cache?.get(row.name, uri) !== undefined;
    try {
      return await this.#fetch(skill, uri, options);
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'skill-mismatch') throw error;
      // Either may be out of date, so that neither may be taken from the cache again.
      cache?.drop(row.name, uri);
      cache?.drop(methods.getSkill.name, skill.uri);
      cache?.drop(methods.listSkills.name);
      if (!wasCached) throw error;
      return this.#fetch(skill, uri, options);
    }
  }

  async directory(uri: string, options?: CallOptions): Promise<Resource[]> {
    assertCallOptions('skills.directory', options);
    const row = methods.readDirectory;
    requireOffered(this.#context, row, `${row.name} ("directoryRead" of ${skillsExtension})`);
    const kind = { row, key: 'resources', strings: ['uri', 'name'], uri } as const;
    return new ListReader<Resource>(this.#context, kind).all(options);
  }

  async #fetch(skill: Skill, uri: string, options: ReadOptions): Promise<SkillFileContents> {
    const { contents } = await this.#resources.read(uri, options);
    const found = contents.find((each) => each?.uri === uri) ?? (contents.length === 1 ? contents[0] : undefined);
    const content: Partial<ResourceContents> = found ?? {};
    if (typeof content.text !== 'string' && typeof content.blob !== 'string') {
      const why = `it has neither text nor a blob of ${quote(uri)}`;
      throw clientErrors.invalidResult(methods.readResource.name, why);
    }
    return this.#verifier.verify(skill, uri, content);
  }
}

function toSkill({ skill }: JsonObject, uri: string): Skill {
  const problem = skillProblem(skill);
  if (problem !== undefined) throw clientErrors.invalidResult(methods.getSkill.name, clean(problem));
  const found = skill as unknown as Skill;
  if (found.uri === uri) return found;
  throw clientErrors.invalidResult(methods.getSkill.name, `it is the skill ${quote(found.uri)}, not ${quote(uri)}`);
}

function unlisted({ uri, resources }: Skill): string {
  return resources === 'dynamic'
    ? `it is not in the folder ${skillFolder(uri)}`
    : `it is none of the ${resources.length} files that the entry lists`;
}
