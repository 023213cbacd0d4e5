"""`python scripts/layout/move.py REPO [-n]`: moves modules as modules.txt says, rewrites every import, writes the doors of packages."""
import ast,sys,re,subprocess,os
from pathlib import Path
HERE=Path(__file__).parent
sys.path.insert(0,str(HERE))
from source import load
T=dict(l.split() for l in (HERE/'modules.txt').read_text().splitlines())
DOC=dict(l.split('\t') for l in (HERE/'packages.txt').read_text().splitlines())
REPO=Path(sys.argv[1]); S=REPO/'server'
mods,_=load(S)
def new_of(m):
    s=m[6:] if m.startswith('lerim.') else ''
    if s in T: return 'lerim.'+T[s]
    return m
trees={m:ast.parse(p.read_text()) for m,p in mods.items()}
top={}   # module -> names defined at top
imp={}   # module -> name -> (module,symbol|None)
for m,t in trees.items():
    d=set(); i={}
    def visit(body):
        for n in body:
            if isinstance(n,(ast.FunctionDef,ast.AsyncFunctionDef,ast.ClassDef)): d.add(n.name)
            elif isinstance(n,(ast.Assign,)):
                for x in n.targets:
                    for y in ast.walk(x):
                        if isinstance(y,ast.Name): d.add(y.id)
            elif isinstance(n,ast.AnnAssign) and isinstance(n.target,ast.Name): d.add(n.target.id)
            elif isinstance(n,ast.ImportFrom):
                for a in n.names:
                    if n.module and n.module.split('.')[0]=='lerim':
                        full=n.module+'.'+a.name
                        i[a.asname or a.name]=(full,None) if full in mods else (n.module,a.name)
            elif isinstance(n,(ast.If,ast.Try)):
                visit(n.body); visit(n.orelse)
                for h in getattr(n,'handlers',[]): visit(h.body)
    visit(t.body)
    top[m]=d; imp[m]=i
def origin(m,s):
    seen=set()
    while (m,s) not in seen:
        seen.add((m,s))
        if s in top[m] or s.endswith('_app'): return m,s  # commands register on an app where it is imported from
        if s in imp[m]:
            m2,s2=imp[m][s]
            if s2 is None: return m2,None
            m,s=m2,s2
            continue
        return m,s
    return m,s
NEW={m:new_of(m) for m in mods}
PACKAGES=set()
for v in NEW.values():
    parts=v.split('.')
    for k in range(2,len(parts)): PACKAGES.add('.'.join(parts[:k]))
PACKAGES.discard('lerim')
OLDPK={m for m,p in mods.items() if p.name=='__init__.py'}
doors={p:{} for p in PACKAGES}   # package -> exported name -> new module path (full) or ('module', path)
problems=[]
def export(door,name,target):
    have=doors[door].setdefault(name,target)
    if have!=target: problems.append(f'{door}: {name} is {have} and {target}')
def reach(frm,target):
    """Package door through which file `frm` (new name) sees module `target`; None: directly."""
    A,B=frm.split('.'),target.split('.')
    i=0
    while i<len(B)-1 and i<len(A)-1 and A[i]==B[i]: i+=1
    # packages of target not containing frm
    outer='.'.join(B[:i+1]) if i+1<len(B) else None
    return outer
def see(frm,m,s,by_door):
    """how new file `frm` imports symbol s of NEW module path m -> (module, name)"""
    d=reach(frm,m) if by_door else None
    if d is None or d=='lerim': 
        if s is None:
            a,b=m.rsplit('.',1); return a,b
        return m,s
    B=m.split('.'); k=len(d.split('.'))
    # chain of doors
    for j in range(k,len(B)):
        door='.'.join(B[:j])
        export(door,s or B[-1],(m,s))
    return d,(s or B[-1])
def rewrite(path,text,frm,by_door,self_old=None):
    t=ast.parse(text)
    lines=text.split('\n')
    edits=[]  # (startline,endline,newlines)
    renames={} 
    names_used={n.id for n in ast.walk(t) if isinstance(n,ast.Name)}|{a.arg for n in ast.walk(t) if isinstance(n,ast.arguments) for a in n.args+n.kwonlyargs+n.posonlyargs}
    for n in ast.walk(t):
        if isinstance(n,ast.ImportFrom) and n.module and n.module.split('.')[0]=='lerim':
            out={}
            for a in n.names:
                full=n.module+'.'+a.name
                if full in mods and mods[full].name!='__init__.py': m,s=full,None
                elif full in mods: m,s=full,'__package__'
                elif n.module in mods: m,s=origin(n.module,a.name)
                else: raise SystemExit((path,n.lineno,n.module))
                if s=='__package__':
                    out.setdefault(n.module,[]).append((a.name,a.asname)); continue
                if n.module=='lerim' and m=='lerim':
                    out.setdefault('lerim',[]).append((a.name,a.asname)); continue
                local=a.asname or a.name
                nm=NEW[m]
                if s is None and m in NAMESPACE and by_door:   # the package is its namespace
                    pk=NAMESPACE[m]; base,_,last=pk.rpartition('.')
                    out.setdefault(base,[]).append((last,local if local!=last else None)); doors_files.append((path,local,m,pk)); continue
                mod,name=see(frm,nm,s,by_door)
                if name!=local:
                    if a.asname or s is not None: as_=local
                    else:
                        # a module under a new name: rename its uses
                        if (name in names_used or name in renames.values()) and renames.get(local)!=name: as_=local
                        else: renames[local]=name; as_=None
                else: as_=None
                out.setdefault(mod,[]).append((name,as_))
            ind=lines[n.lineno-1][:n.col_offset]
            tail=''
            mcom=re.search(r'(\s+#.*)$',lines[n.end_lineno-1])
            if mcom: tail=mcom.group(1)
            new=[]
            for mod,ns in out.items():
                items=', '.join(x+(f' as {y}' if y else '') for x,y in ns)
                one=f'{ind}from {mod} import {items}{tail}'
                if len(one)>118: one=f'{ind}from {mod} import (\n'+''.join(f'{ind}    {x}{f" as {y}" if y else ""},\n' for x,y in ns)+f'{ind}){tail}'
                new.append(one)
            edits.append((n.lineno,n.end_lineno,'\n'.join(new)))
    if renames:
        subs=[]
        for n in ast.walk(t):
            if isinstance(n,ast.Name) and n.id in renames: subs.append((n.lineno,n.col_offset,n.id))
        for ln,col,idn in sorted(subs,reverse=True):
            raw=lines[ln-1].encode()
            assert raw[col:col+len(idn)].decode()==idn,(path,ln)
            lines[ln-1]=(raw[:col]+renames[idn].encode()+raw[col+len(idn):]).decode()
    for a,b,new in sorted(edits,reverse=True):
        lines[a-1:b]=new.split('\n')
    return '\n'.join(lines)
doors_files=[]
NAMESPACE={'lerim.memory.files':'lerim.files','lerim.sessions.queue':'lerim.sessions.queue'}
out={}
for m,p in mods.items():
    if p.name=='__init__.py': continue
    out[m]=rewrite(p,p.read_text(),NEW[m],True)
# files namespace: door must carry what is used
for path,local,old,pk in doors_files:
    t=ast.parse(Path(path).read_text())
    for n in ast.walk(t):
        if isinstance(n,ast.Attribute) and isinstance(n.value,ast.Name) and n.value.id==local:
            mm,ss=origin(old,n.attr)
            export(pk,n.attr,(NEW[mm],ss))
# what packages' __init__ exported before
for m in OLDPK:
    for name,(mm,ss) in imp[m].items():
        if m=='lerim': continue
        o=origin(mm,ss) if ss else (mm,None)
        B=NEW[o[0]].split('.')
        for j in range(2,len(B)):
            export('.'.join(B[:j]),name,(NEW[o[0]],o[1]))
# other trees
others={}
for folder in ('tests','benchmarks','scripts','evals'):
    for p in (REPO/folder).rglob('*.py'):
        x=p.read_text()
        if 'lerim' in x:
            try: others[p]=rewrite(p,x,'outside.'+p.stem,False)
            except SyntaxError as e: problems.append(f'{p}: {e}')
# clashes: exported name equals a module or package of the same package
tree={}
for v in NEW.values():
    parts=v.split('.')
    for k in range(1,len(parts)): tree.setdefault('.'.join(parts[:k]),set()).add(parts[k])
for d,names in doors.items():
    for n,(m,s) in names.items():
        if n in tree.get(d,()) and not (s is None and m==f'{d}.{n}'):
            problems.append(f'CLASH {d}: {n} ({m}.{s}) is a module there too')
if '-n' in sys.argv:
    print('\n'.join(problems)); print({d:len(n) for d,n in doors.items()})
    sys.exit()
# ---- write
def sh(*a): subprocess.run(a,cwd=REPO,check=True)
tmp=S/'_moving'; tmp.mkdir()
for m,p in mods.items():
    if p.name=='__init__.py': continue
    q=tmp/NEW[m].replace('.','__').__add__('.py'); p.rename(q)
for m,p in mods.items():
    if p.name=='__init__.py' and m!='lerim': p.unlink()
for m,p in mods.items():
    if p.name=='__init__.py': continue
    q=tmp/(NEW[m].replace('.','__')+'.py')
    dest=S/(NEW[m].replace('.','/')+'.py'); dest.parent.mkdir(parents=True,exist_ok=True)
    q.rename(dest); dest.write_text(out[m])
tmp.rmdir()
for p,x in others.items(): p.write_text(x)
for a,b in (('default.toml','config/default.toml'),('extraction/ranking/ranker.json','extraction/ranking/ranker.json')):
    if a!=b: (S/'lerim'/a).rename(S/'lerim'/b)
for d in sorted(PACKAGES):
    folder=S/d.replace('.','/'); folder.mkdir(parents=True,exist_ok=True)
    names=doors[d]
    doc=DOC.get(d[6:],'TODO '+d)
    if names:
        (folder/'__init__.py').write_text(f'"""{doc}"""\n\nimport lazy_loader\n\n__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)\n')
        by={}
        k=len(d.split('.'))
        for n,(m,s) in names.items():
            rest=m.split('.')[k:]
            if s is None and len(rest)==1: by.setdefault('.',[]).append(n)
            else: by.setdefault('.'+rest[0],[]).append(n)
        (folder/'__init__.pyi').write_text('\n'.join(f'from {mod} import {n} as {n}' for mod,ns in sorted(by.items()) for n in sorted(ns))+'\n')
    else: (folder/'__init__.py').write_text(f'"""{doc}"""\n')
# ---- text references
pairs=[]
for m in mods:
    if m=='lerim' or mods[m].name=='__init__.py': continue
    if NEW[m]!=m: pairs.append((m[6:],NEW[m][6:]))
files=subprocess.run(['git','ls-files','-co','--exclude-standard'],cwd=REPO,capture_output=True,text=True).stdout.split()
slash={a.replace('.','/')+'.py':b.replace('.','/')+'.py' for a,b in pairs}
dot={'lerim.'+a:'lerim.'+b for a,b in pairs}
rs=re.compile(r'(?<![\w/.-])((?:server/)?(?:lerim/)?)('+'|'.join(sorted((re.escape(x) for x in slash),key=len,reverse=True))+r')(?!\w)')
rd=re.compile(r'(?<![\w.])('+'|'.join(sorted((re.escape(x) for x in dot),key=len,reverse=True))+r')(?![\w.]*\w)')
for f in files:
    p=REPO/f
    if not p.exists() or p.suffix not in {'.md','.py','.ts','.mjs','.toml','.json','.pyi',''} or 'node_modules' in f or f.startswith(('evals/labels','evals/aside','evals/ranker','tests/recorded','package-lock')) or f=='CHANGELOG.md': continue
    try: x=p.read_text()
    except UnicodeDecodeError: continue
    def one(mm):
        pre,old=mm.group(1),mm.group(2)
        if not pre and '/' not in old: return mm.group(0)   # a bare file name: ambiguous
        return pre+slash[old]
    y=rs.sub(one,x)
    y='\n'.join(l if p.suffix in {'.py','.pyi'} and re.match(r'\s*(from|import) ',l) else rd.sub(lambda mm:dot[mm.group(1)],l) for l in y.split('\n'))
    if y!=x: p.write_text(y)
print('\n'.join(problems)); print('moved',len(out))
# ---- what names modules in other ways
def put_right(p,*prs):
    f=REPO/p; x=f.read_text()
    for a,b in prs:
        if a not in x: print('MISSING',p,a); continue
        x=x.replace(a,b)
    f.write_text(x)
def lsp(m): return T['lsp.'+m][4:] if 'lsp.'+m in T else m
f=REPO/'server/lerim/lsp/server.py'; x=f.read_text()
x=re.sub(r'(RequestHandler\([^\n]*?, )"(\w+)", "(\w+)"',lambda k:f'{k[1]}"{lsp(k[2])}", "{k[3]}"',x)
x=re.sub(r'_lazy\("(\w+)", ',lambda k:f'_lazy("{lsp(k[1])}", ',x)
f.write_text(x)
put_right('server/lerim/config/load.py',('resources.files("lerim")','resources.files("lerim.config")'))
put_right('tests/unit/test_config.py',('resources.files("lerim")','resources.files("lerim.config")'))
put_right('server/lerim/sessions/readers/agents.py',('Path(__file__).parents[1]','Path(__file__).parents[2]'))
put_right('.vscodeignore',('!server/**/*.py\n','!server/**/*.py\n!server/**/*.pyi\n'))
put_right('pyproject.toml',('    "filelock>=3.20",\n','    "filelock>=3.20",\n    "lazy-loader>=0.6", # the doors of our packages\n'),('    "hypothesis>=6.150",\n','    "hypothesis>=6.150",\n    "import-linter>=2.16",\n'))
x=(REPO/'pyproject.toml').read_text()
if 'importlinter' not in x: (REPO/'pyproject.toml').write_text(x.rstrip('\n')+'\n\n'+(HERE/'layers.toml').read_text())
put_right('scripts/test.py',('    (PYTHON, "-m", "mypy"),\n','    (PYTHON, "-m", "mypy"),\n    (str(Path(PYTHON).with_name("lint-imports")), "--no-cache"),\n'))
