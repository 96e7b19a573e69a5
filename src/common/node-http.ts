// node:http without `import`. From Node.js 22 on, an import takes 70 ms longer: it reads every property of the module, and three
// of them load undici. Only its types are imported (test/layering.test.ts).

export const nodeHttp = () => process.getBuiltinModule('node:http');
